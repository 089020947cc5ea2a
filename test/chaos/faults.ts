import { systemClock } from '../../src/kernel/index.ts'
import { fillDisk } from '../support/small-disk.ts'
import { type Cluster, LEASE_SECONDS, type Node } from './cluster.ts'
import type { ChaosLoad } from './load.ts'
import type { Random } from './random.ts'

export interface Ground {
  cluster: Cluster
  load: ChaosLoad
  random: Random
}

/** Does harm, and takes it back. Resolves when everything is whole again. */
type Fault = (ground: Ground) => Promise<void>

const HOUR = 3_600_000
const pause = (ms: number) => systemClock.sleep(ms)
const aWhile = ({ random }: Ground, seconds = 4) => pause(random.between(500, seconds * 1000))

/** What can go wrong, one at a time. */
export const FAULTS = {
  async 'instance killed'(ground) {
    const node = ground.random.pick(ground.cluster.nodes)
    await node.end('SIGKILL')
    await aWhile(ground)
    await node.start()
  },
  async 'instance stalled beyond its lease'(ground) {
    const node = ground.random.pick(ground.cluster.nodes)
    node.signal('SIGSTOP')
    await pause((LEASE_SECONDS + ground.random.between(1, 4)) * 1000)
    node.signal('SIGCONT')
  },
  async 'rolling restart'({ cluster }) {
    for (const node of cluster.nodes) {
      await node.end('SIGTERM')
      await node.start()
    }
  },
  async 'clock wrong by an hour'(ground) {
    const node = ground.random.pick(ground.cluster.nodes)
    await restart(node, ground.random.pick([HOUR, -HOUR]))
    await aWhile(ground, 8)
    await restart(node)
  },
  async 'redis restarted empty'({ cluster: { redis } }) {
    await redis.stop()
    await redis.start()
  },
  async 'redis flushed'({ cluster, load }) {
    await load.flush(cluster.redis.url)
  },
  async 'redis hung'(ground) {
    const { redis } = ground.cluster
    redis.hang()
    await aWhile(ground, 8)
    redis.goOn()
  },
  async 'redis away'(ground) {
    await ground.cluster.redis.stop()
    await aWhile(ground, 8)
    await ground.cluster.redis.start()
  },
  async 'postgres restarted'({ cluster: { postgres } }) {
    await postgres.stop()
    await postgres.start()
  },
  async 'postgres crashed'({ cluster: { postgres } }) {
    await postgres.crash()
    await postgres.start()
  },
  async 'postgres away'(ground) {
    await ground.cluster.postgres.stop()
    await aWhile(ground, 8)
    await ground.cluster.postgres.start()
  },
  async 'store away'(ground) {
    const { s3 } = ground.cluster
    s3.fault = () => 'cut'
    await aWhile(ground, 10)
    s3.fault = () => undefined
  },
  async 'store faulty'(ground) {
    const { s3 } = ground.cluster
    const kinds = [
      { status: 503, code: 'SlowDown' },
      { status: 500, code: 'InternalError' },
      'cut',
      'cut in the middle',
    ]
    s3.fault = () => (ground.random.next() < 0.4 ? (ground.random.pick(kinds) as 'cut') : undefined)
    await aWhile(ground, 10)
    s3.fault = () => undefined
  },
  async 'disk full'(ground) {
    const { smallDisk } = ground.cluster
    if (smallDisk === undefined) return
    const makeRoom = fillDisk(smallDisk, 0)
    await aWhile(ground, 8)
    makeRoom()
  },
  async 'connections cut'({ cluster: { nodes } }) {
    for (const node of nodes) node.front.cut()
  },
  async 'sources flapping'(ground) {
    ground.load.sourcesFlap = true
    await aWhile(ground, 6)
    ground.load.sourcesFlap = false
  },
  async 'receivers down'(ground) {
    ground.load.receiversDown = true
    await aWhile(ground, 8)
    ground.load.receiversDown = false
  },
} satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

export async function inflict(name: FaultName, ground: Ground): Promise<void> {
  await FAULTS[name](ground)
}

/** Faults that may come together: no two of them touch the same process. */
export const TOGETHER: FaultName[][] = [
  ['redis away', 'store away', 'receivers down'],
  ['instance stalled beyond its lease', 'store faulty', 'redis flushed'],
  ['postgres restarted', 'redis restarted empty', 'sources flapping'],
]

async function restart(node: Node, skewMs = 0): Promise<void> {
  await node.end('SIGTERM')
  await node.start(skewMs)
}
