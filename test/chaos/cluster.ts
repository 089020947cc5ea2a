import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Backend, scaledOut } from '../support/backends.ts'
import { Front, portOf } from '../support/front.ts'
import type { Server } from '../support/fronted-server.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { startNginx } from '../support/nginx.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { S3Server } from '../support/s3-server.ts'
import { smallDisk } from '../support/small-disk.ts'
import { serveWharf, skewedBy, temporaryFolder, unforeseenIn } from '../support/wharf-process.ts'

export const LEASE_SECONDS = 3
const DISK_MEGABYTES = 96
/** Below the ports that the system hands out, on addresses of this process alone. */
const PORT = 28_090
const NETWORK = `127.${100 + (process.pid % 100)}.${1 + (Math.floor(process.pid / 100) % 250)}`

type Process = Awaited<ReturnType<typeof serveWharf>>

/** One instance: a data folder and an address that stay, and a process that comes and goes. */
export class Node {
  readonly front: Front
  readonly dataDir: string
  readonly #env: Record<string, string>
  #process: Process | undefined

  constructor(front: Front, dataDir: string, env: Record<string, string>) {
    this.front = front
    this.dataDir = dataDir
    this.#env = env
  }

  /** `skewMs`: how far its clock is from the true one. */
  async start(skewMs = 0): Promise<void> {
    const env = { ...this.#env, WHARF_DATA_DIR: this.dataDir, ...(skewMs !== 0 && skewedBy(skewMs)) }
    this.#process = await serveWharf(env)
    this.front.to = portOf(this.#process.address)
  }

  /** What it has logged as an error since its last start. */
  get errors(): string[] {
    return this.#process?.output.out.split('\n').filter((line) => line.includes('"level":50')) ?? []
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.child.kill(signal)
  }

  /** The process is gone when this resolves. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const old = this.#process
    if (signal === 'SIGKILL') this.front.to = undefined
    old?.child.kill(signal)
    const { code } = (await old?.exited) ?? { code: null }
    this.front.to = undefined
    if (signal === 'SIGTERM' && code !== 0)
      throw new Error(`an instance ended with ${code}: ${old?.output.err}`)
    if (old && unforeseenIn(old.output.out).length > 0)
      throw new Error(unforeseenIn(old.output.out).join('\n'))
  }
}

export interface Cluster {
  /** Through nginx. */
  address: string
  nodes: Node[]
  postgres: Server
  redis: RedisServer
  s3: S3Server
  backend: Backend
  /** Folder on a disk that can be filled, if this machine lets a test mount one: the first instance's data. */
  smallDisk: string | undefined
  sharedDir: string
  agentRoots: string
}

/** PostgreSQL, Redis, an S3 server, three instances and nginx, all of them the test's own. */
export async function startCluster(): Promise<Cluster> {
  const [postgres, redis] = [await startPostgres({ fsync: false }), await startRedis()]
  if (!postgres || !redis) throw new Error('the chaos test needs PostgreSQL and Redis')
  onTestFinished(() => redis.remove())
  onTestFinished(() => postgres.remove())
  const s3 = await S3Server.start()
  onTestFinished(() => s3.stop())
  const backend = await scaledOut({ postgresUrl: postgres.url, redisUrl: redis.url })
  const { WHARF_DATA_DIR: _, ...ground } = backend.env
  const sharedDir = temporaryFolder()
  const env = {
    ...ground,
    WHARF_SHARED_DIR: sharedDir,
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
    WHARF_SEAL_KEY: Buffer.alloc(32, 7).toString('base64'),
    WHARF_RATE_LIMIT: '100000/s',
    WHARF_LEASE_SECONDS: String(LEASE_SECONDS),
    WHARF_DRAIN_SECONDS: '10',
    // Agents come through nginx, and fetch their pieces past it.
    WHARF_SWARM_HOST: '127.0.0.1',
    WHARF_EXPORT_PROJECT_LIMIT: '10000',
    COLLECT_WINDOW_SECONDS: '1',
    PROCESSOR_COMMAND: 'cp {input} {output}',
  }
  const disk = smallDisk(DISK_MEGABYTES)
  const fronts = await Promise.all([Front.open(), Front.open(), Front.open()])
  const nodes = fronts.map((front, index) => {
    const dataDir = index === 0 && disk !== undefined ? disk : temporaryFolder()
    return new Node(front, dataDir, env)
  })
  onTestFinished(async () => {
    for (const front of fronts) await front.close()
  })
  await Promise.all(nodes.map((node) => node.start()))
  const address = `${NETWORK}.1:${PORT}`
  const upstream = fronts.map((front) => `127.0.0.1:${front.port}`)
  await startNginx({ address, keeping: `${NETWORK}.2:${PORT}`, upstream })
  const agentRoots = join(temporaryFolder(), 'roots')
  mkdirSync(agentRoots)
  return {
    address: `http://${address}`,
    nodes,
    postgres,
    redis,
    s3,
    backend,
    smallDisk: disk,
    sharedDir,
    agentRoots,
  }
}
