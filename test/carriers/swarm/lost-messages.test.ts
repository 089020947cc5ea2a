import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TransferTarget } from '../../../src/carriers/index.ts'
import { RedisBus } from '../../../src/jobs/bus/redis-bus.ts'
import { InProcessBus } from '../../../src/jobs/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { agentLine } from '../../support/agents.ts'
import { silentLog } from '../../support/backends.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { type BusMessage, LossyBus } from '../../support/lossy-bus.ts'
import { sha256sum } from '../../support/sha256sum.ts'
import { setupSwarm, targetsFor, untilConnected, untilOver } from '../../support/swarm.ts'
import { until } from '../../support/until.ts'

const MIB = 1024 * 1024
const HOUR_MS = 3_600_000
const DOWNLOADING = 115
const TERMINATED = 126
const { signal } = new AbortController()

/** Two instances on one ledger, with a bus between them that loses messages. */
async function setup(options: { absentMs?: number } = {}) {
  const swarm = await setupSwarm()
  const bus = new LossyBus()
  const ground = await swarm.ground(bus)
  // Looks and reminders come soon; agents go by the real clock.
  const open = () => swarm.server({ ground, clock: new FastClock(2.5), absentMs: 5 * HOUR_MS, ...options })
  const [here, there] = [await open(), await open()]
  const start = async (targets: TransferTarget[], bytes = MIB + 1) => {
    const { path, size, signature } = swarm.file(bytes)
    const order = { projectId: 'p1', localPath: path, size, signature, timeoutSeconds: 24 * 3600 }
    const fileName = `file-${signature.slice(0, 8)}`
    const { engineTaskId: task } = await here.engine.start({ ...order, fileName, targets }, signal)
    const arrivedAt = ({ root }: { root: string }) => sha256sum(join(root, 'in', fileName)) === signature
    return { task, fileName, arrivedAt }
  }
  return { swarm, bus, here, there, start }
}

/** What a message of the swarm is, in a word or two, and which task it is about. */
function read({ message }: BusMessage): { kind: string; task: string | undefined } {
  const { about, message: said } = message as { about: string; message: Record<string, unknown> }
  if (about !== 'agents') return { kind: about, task: typeof said === 'string' ? said : undefined }
  const carried = said.message as
    | { type: string; task?: string; tasks?: { task: string; parent: string | null }[] }
    | undefined
  const kind = carried ? `${String(said.kind)} ${carried.type}` : String(said.kind)
  return { kind, task: carried?.task ?? carried?.tasks?.[0]?.task }
}

test('an agent of another instance gets its file while Redis is away', async () => {
  const swarm = await setupSwarm()
  const buses: RedisBus[] = []
  const all = Object.assign(new InProcessBus(), {
    close: async () => {
      for (const bus of buses) await bus.close()
    },
  })
  const { ledger } = await swarm.ground(all)
  const open = () => {
    const bus = new RedisBus(silentLog, {
      url: 'redis://127.0.0.1:1',
      key: 'key',
      clock: systemClock,
      ledger,
    })
    buses.push(bus)
    return swarm.server({ ground: { ledger, bus } })
  }
  const [here, there] = [await open(), await open()]
  const far = await swarm.agent(there, 'far')
  await untilConnected(here.engine, 1)
  const { path, size, signature } = swarm.file(MIB + 1)
  const order = { projectId: 'p1', localPath: path, size, signature, timeoutSeconds: 24 * 3600 }
  const targets = targetsFor([far])
  const { engineTaskId } = await here.engine.start({ ...order, fileName: 'file', targets }, signal)
  expect((await untilOver(here.engine, engineTaskId)).targets).toMatchObject([{ errorCode: 0 }])
  expect(sha256sum(join(far.root, 'in', 'file'))).toBe(signature)
})

describe('a message between instances that is lost delays, and nothing else', () => {
  test('any message of a delivery, once: every target gets the file', async () => {
    const { swarm, bus, here, there, start } = await setup()
    // A limit keeps the transfer under way for long enough to be reported.
    const far = await swarm.agent(there, 'far', { downloadLimit: 2_000_000 })
    const near = await swarm.agent(here, 'near')
    await untilConnected(here.engine, 2)
    const kinds = ['to job', 'to assign', 'of report', 'of done']
    // Each delivery loses the first message of its kind.
    const kindOf = new Map<string, string>()
    const lost = new Set<string>()
    bus.loses = (said) => {
      const { kind, task } = read(said)
      if (task === undefined) return false
      if (!kindOf.has(task)) kindOf.set(task, kinds[kindOf.size] ?? '')
      if (kindOf.get(task) !== kind || lost.has(kind)) return false
      lost.add(kind)
      return true
    }
    const deliveries = []
    for (const _ of kinds) deliveries.push(await start(targetsFor([near, far])))
    for (const { task, arrivedAt } of deliveries) {
      const { targets } = await untilOver(here.engine, task)
      expect(targets.map(({ errorCode }) => errorCode)).toEqual([0, 0])
      expect([arrivedAt(near), arrivedAt(far)]).toEqual([true, true])
    }
    expect([...lost].toSorted()).toEqual(kinds.toSorted())
  })

  test('all of them, for as long as Redis is away: an order given meanwhile is carried out', async () => {
    const { swarm, bus, here, there, start } = await setup()
    bus.loses = () => true
    const [near, far] = [await swarm.agent(here, 'near'), await swarm.agent(there, 'far')]
    await untilConnected(here.engine, 2)
    const { task, arrivedAt } = await start(targetsFor([near, far]))
    await until('one has it, the order of the other was said again in vain', async () => {
      const [first] = (await here.engine.result(task, signal)).targets
      const orders = bus.lost.filter((said) => read(said).kind === 'to job')
      return first?.errorCode === 0 && orders.length > 1
    })
    bus.loses = () => false
    const { targets } = await untilOver(here.engine, task)
    expect(targets.map(({ errorCode }) => errorCode)).toEqual([0, 0])
    expect(arrivedAt(far)).toBe(true)
  })

  test('the end: a terminated target stops, and nothing of the file stays', async () => {
    const { swarm, bus, here, there, start } = await setup()
    const far = await swarm.agent(there, 'far', { downloadLimit: 100_000 })
    await untilConnected(here.engine, 1)
    const { task } = await start(targetsFor([far]), 4 * MIB)
    const folder = join(far.root, 'in')
    const parts = () => (existsSync(folder) ? readdirSync(folder) : [])
    await until('it is under way', () => parts().length > 0)
    bus.loses = (said) => read(said).kind === 'to end' && bus.lost.length < 1
    await here.engine.terminate(task, [{ agentId: 'far', containerId: '' }], signal)
    await until('it has stopped', () => parts().length === 0)
    expect(bus.lost).toHaveLength(1)
  })

  test('a task that is over, or that nobody knows, is ended by the instance that hears of it', async () => {
    const { swarm, here, there } = await setup()
    const identity = await swarm.identityOf(here, 'line')
    const line = await agentLine(there.url, { id: 'line', identity })
    await line.answered
    line.send({ type: 'report', tasks: [{ task: 'long-over', have: 1, parent: null, children: [] }] })
    await until('it is told to end', () =>
      line.heard.some((told) => told.type === 'end' && told.task === 'long-over'),
    )
  })

  test('who took a task over: the other lets go of it, and says how it ended', async () => {
    const { bus, here, there, start } = await setup()
    const { task } = await start(targetsFor([{ id: 'absent', root: '/nowhere' }]))
    bus.loses = (said) => read(said).kind === 'taken'
    const codes = async (server: typeof here) =>
      (await server.engine.result(task, signal)).targets.map(({ errorCode }) => errorCode)
    expect(await codes(there)).toEqual([DOWNLOADING])
    await there.engine.terminate(task, [{ agentId: 'absent', containerId: '' }], signal)
    await until(
      'both say the same',
      () => codes(here),
      ([code]) => code === TERMINATED,
    )
    expect(bus.lost.map((said) => read(said).kind)).toContain('taken')
  })

  test('who came and who went', async () => {
    const { swarm, bus, here, there, start } = await setup({ absentMs: 1 })
    const comes = await swarm.agent(there, 'comes')
    const goes = await swarm.agent(there, 'goes', { downloadLimit: 100_000 })
    await untilConnected(here.engine, 2)
    await comes.stop()
    await until('one is gone', async () => (await here.engine.agents()).length === 1)
    bus.loses = (said) => ['present', 'absent'].includes(read(said).kind)
    const long = await start(targetsFor([goes]), 4 * MIB)
    await until('it is under way', () => existsSync(join(goes.root, 'in')))
    await goes.stop()
    const { targets } = await untilOver(here.engine, long.task)
    expect(targets.map(({ errorCode }) => errorCode)).toEqual([117])
    const back = await swarm.agent(there, 'comes')
    await untilConnected(here.engine, 1)
    const { task, arrivedAt } = await start(targetsFor([back]))
    expect((await untilOver(here.engine, task)).targets.map(({ errorCode }) => errorCode)).toEqual([0])
    expect(arrivedAt(back)).toBe(true)
    expect(new Set(bus.lost.map((said) => read(said).kind))).toEqual(new Set(['present', 'absent']))
  })

  test('a revocation: the agent is let go', async () => {
    const { swarm, bus, here, there } = await setup()
    await swarm.agent(there, 'revoked')
    await untilConnected(here.engine, 1)
    bus.loses = (said) => read(said).kind === 'revoked'
    const name = { agentId: 'revoked', containerId: '' }
    await here.ledger.transaction((tx) => here.engine.revoke(tx, name))
    await until('it is gone', async () => (await here.engine.agents()).length === 0)
    expect(bus.lost).toHaveLength(1)
  })
})

test('an agent that the ledger was not told of is noted at the next look', async () => {
  const { swarm, here, there } = await setup()
  await swarm.agent(there, 'one')
  await untilConnected(here.engine, 1)
  await here.ledger.db.deleteFrom('swarm_agents').execute()
  await untilConnected(here.engine, 1)
})
