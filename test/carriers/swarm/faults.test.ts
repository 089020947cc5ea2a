import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { OWN_NAME } from '../../support/agents.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { sha256sum } from '../../support/sha256sum.ts'
import { setupSwarm, targetsFor, untilConnected, untilOver } from '../../support/swarm.ts'
import { until } from '../../support/until.ts'

const MIB = 1024 * 1024
const HOUR_MS = 3_600_000
const signal = new AbortController().signal
const names = (count: number) =>
  Array.from({ length: count }, (_, at) => `agent-${String(at).padStart(2, '0')}`)
const FILE = 'file.bin'

type Swarm = Awaited<ReturnType<typeof setupSwarm>>
type Server = Awaited<ReturnType<Swarm['server']>>

function orderOf(file: { path: string; size: number; signature: string }) {
  return {
    projectId: 'p1',
    localPath: file.path,
    fileName: FILE,
    size: file.size,
    signature: file.signature,
    timeoutSeconds: 24 * 3600,
  }
}

/** Resolves when this agent has a part of the file, but not all of it. */
async function untilUnderWay({ engine }: Server, task: string, agentId: string): Promise<void> {
  await until(
    `${agentId} has a part`,
    async () => (await engine.result(task, signal)).targets.find((target) => target.agentId === agentId),
    (found) => found?.errorCode === 115 && found.progress > 5,
  )
}

describe('20 agents', () => {
  test('killed, frozen, lying and new ones: every other target gets the file', async () => {
    const swarm = await setupSwarm()
    // Nobody is given up for being slow: the test says when the time of those who are away is over.
    const clock = new FastClock(1)
    const server = await swarm.server({ clock, absentMs: HOUR_MS })
    // A limit keeps the transfer under way long enough to disturb it.
    const downloadLimit = 2_000_000
    const args = ['--download', String(downloadLimit)]
    const start = (id: string, lying = false) => swarm.agentProcess(server, id, { args, lying })
    // Only what is killed, frozen or a lie needs a process of its own.
    const [killed, frozen, restarted] = [
      await start('killed'),
      await start('frozen'),
      await start('restarted'),
    ]
    const lying = await start('lying', true)
    const well = await Promise.all(names(16).map((id) => swarm.agent(server, id, { downloadLimit })))
    await untilConnected(server.engine, 20)
    const late = { id: 'agent-late', root: join(swarm.folder, 'roots', 'agent-late') }
    const file = swarm.file(16 * MIB + 1)
    const targets = targetsFor([...well, lying, killed, frozen, restarted, late])
    const { engineTaskId } = await server.engine.start({ ...orderOf(file), targets }, signal)
    await untilUnderWay(server, engineTaskId, 'agent-03')
    killed.child.kill('SIGKILL')
    frozen.child.kill('SIGSTOP')
    restarted.child.kill('SIGKILL')
    await restarted.exited
    await start(restarted.id)
    await start(late.id)
    const others = [...well, lying, restarted, late]
    const untilDone = (what: string, count: number) =>
      until(
        what,
        () => server.engine.result(engineTaskId, signal),
        ({ targets }) => targets.filter(({ errorCode }) => errorCode === 0).length === count,
      )
    await untilDone('all but the killed and the frozen have it', others.length)
    frozen.child.kill('SIGCONT')
    await untilDone('the frozen one has it, too', others.length + 1)
    clock.advance(HOUR_MS)
    const result = await untilOver(server.engine, engineTaskId)
    const codes = new Map(result.targets.map(({ agentId, errorCode }) => [agentId, errorCode]))
    expect(codes.get(killed.id)).toBe(117)
    for (const { id, root } of [...others, frozen]) {
      expect([id, codes.get(id)]).toEqual([id, 0])
      expect(sha256sum(join(root, 'in', FILE))).toBe(file.signature)
    }
    expect(server.engine.egress.pieces).toBeLessThan(file.size * 3)
  })
})

describe('a target that cannot take the file', () => {
  test('full disk, read-only directory, refused path and unknown user fail alone, with a code each', async () => {
    const swarm = await setupSwarm()
    const server = await swarm.server()
    const allow = { projects: ['*'], users: [OWN_NAME, 'nobody-of-that-name'] }
    const agents = await Promise.all(names(5).map((id) => swarm.agent(server, id, { allow })))
    const [good, full, readOnly, outside, stranger] = agents
    mountTmpfs(join(full!.root, 'in'), 'size=2m')
    mountTmpfs(join(readOnly!.root, 'in'), 'size=1m,ro')
    await untilConnected(server.engine, 5)
    const file = swarm.file(6 * MIB)
    const targets = targetsFor(agents)
    targets[3]!.directory = join(outside!.root, '..', 'elsewhere')
    targets[4]!.user = 'nobody-of-that-name'
    const { engineTaskId } = await server.engine.start({ ...orderOf(file), targets }, signal)
    const result = await untilOver(server.engine, engineTaskId)
    expect(result.targets.map(({ errorCode }) => errorCode)).toEqual([0, 201, 202, 203, 205])
    expect(sha256sum(join(good!.root, 'in', FILE))).toBe(file.signature)
    expect(readdirSync(join(full!.root, 'in'))).toEqual([])
    expect(existsSync(join(stranger!.root, 'in'))).toBe(false)
    expect(result.uploadError).toBeNull()
  })

  test('a file whose hash is not its signature reaches nobody', async () => {
    const swarm = await setupSwarm()
    const server = await swarm.server()
    const agents = await Promise.all(names(2).map((id) => swarm.agent(server, id)))
    await untilConnected(server.engine, 2)
    const file = { ...swarm.file(MIB), signature: '0'.repeat(64) }
    const { engineTaskId } = await server.engine.start(
      { ...orderOf(file), targets: targetsFor(agents) },
      signal,
    )
    const result = await untilOver(server.engine, engineTaskId)
    expect(result.uploadError?.code).toBe(209)
    expect(result.targets.map(({ errorCode }) => errorCode)).toEqual([209, 209])
    for (const { root } of agents) expect(existsSync(join(root, 'in'))).toBe(false)
  })

  test('an agent that is not there is lost after its time, and the others do not wait for it', async () => {
    const swarm = await setupSwarm()
    const clock = new FastClock(1)
    const server = await swarm.server({ clock, absentMs: HOUR_MS })
    const agent = await swarm.agent(server, 'agent-00')
    await untilConnected(server.engine, 1)
    const file = swarm.file(MIB)
    const targets = targetsFor([agent, { id: 'nobody', root: '/nowhere' }])
    const { engineTaskId } = await server.engine.start({ ...orderOf(file), targets }, signal)
    await until(
      'the other has it',
      () => server.engine.result(engineTaskId, signal),
      ({ targets: [first] }) => first?.errorCode === 0,
    )
    clock.advance(HOUR_MS)
    const result = await untilOver(server.engine, engineTaskId)
    expect(result.targets.map(({ errorCode }) => errorCode)).toEqual([0, 117])
  })
})

describe('a server that goes away in the middle', () => {
  test('another takes the task over by its id, and every target ends right', async () => {
    const swarm = await setupSwarm()
    const first = await swarm.server()
    const agents = await Promise.all(
      names(5).map((id) => swarm.agent(swarm.front, id, { downloadLimit: 3_000_000 })),
    )
    await untilConnected(first.engine, 5)
    const file = swarm.file(12 * MIB)
    const { engineTaskId } = await first.engine.start(
      { ...orderOf(file), targets: targetsFor(agents) },
      signal,
    )
    await untilUnderWay(first, engineTaskId, 'agent-02')
    await first.close()
    const second = await swarm.server()
    const result = await untilOver(second.engine, engineTaskId)
    expect(result.targets.map(({ errorCode }) => errorCode)).toEqual([0, 0, 0, 0, 0])
    for (const { root } of agents) expect(sha256sum(join(root, 'in', FILE))).toBe(file.signature)
    // What the agents had is not sent to each of them again.
    expect(second.engine.egress.pieces).toBeLessThan(file.size * 2)
    expect(await second.engine.result(engineTaskId, signal)).toEqual(result)
  })
})

function mountTmpfs(path: string, options: string): void {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
  onTestFinished(() => void execFileSync('umount', ['-l', path]))
}
