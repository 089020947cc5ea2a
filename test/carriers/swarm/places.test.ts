import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { availableBackends } from '../../support/backends.ts'
import { sha256sum } from '../../support/sha256sum.ts'
import { setupSwarm, untilConnected, untilOver } from '../../support/swarm.ts'
import { until } from '../../support/until.ts'

const FILE = 'release.bin'
const { signal } = new AbortController()

async function deliver(
  backend: ReturnType<typeof availableBackends>[number],
  directories: (root: string) => string[],
) {
  const swarm = await setupSwarm(backend)
  const server = await swarm.server()
  const { id, root } = await swarm.agent(server, 'one')
  await untilConnected(server.engine, 1)
  const file = swarm.file(1024 * 1024 + 5)
  const targets = directories(root).map((directory) => ({
    agentId: id,
    containerId: '',
    user: '',
    directory,
  }))
  const { engineTaskId } = await server.engine.start(
    {
      projectId: 'p1',
      localPath: file.path,
      fileName: FILE,
      size: file.size,
      signature: file.signature,
      targets,
      timeoutSeconds: 600,
    },
    signal,
  )
  const live = await untilOver(server.engine, engineTaskId)
  const byDirectory = (rows: typeof live.targets) =>
    Object.fromEntries(rows.map(({ directory, errorCode }) => [directory?.slice(root.length), errorCode]))
  // What another instance, or the next process, finds in the ledger.
  await server.close()
  const kept = await (await swarm.server()).engine.result(engineTaskId, signal)
  expect(byDirectory(kept.targets)).toEqual(byDirectory(live.targets))
  return {
    root,
    file,
    codes: byDirectory(live.targets),
    messages: live.targets.map((row) => row.errorMessage),
  }
}

test.each(availableBackends())('each place of an agent ends for itself, on %s', async (backend) => {
  const { root, file, codes } = await deliver(backend, (at) => [`${at}-outside`, `${at}/a`, `${at}/b`])
  expect(codes).toEqual({ '-outside': 203, '/a': 0, '/b': 0 })
  for (const place of ['a', 'b']) {
    expect(readdirSync(join(root, place))).toEqual([FILE])
    expect(sha256sum(join(root, place, FILE))).toBe(file.signature)
  }
})

test('a directory with the name of the file fails its place alone, in words that name no inner path', async () => {
  const { root, file, codes, messages } = await deliver('embedded', (at) => {
    mkdirSync(join(at, 'first', FILE), { recursive: true })
    return [`${at}/first`, `${at}/second`]
  })
  expect(codes).toEqual({ '/first': 203, '/second': 0 })
  expect(sha256sum(join(root, 'second', FILE))).toBe(file.signature)
  expect(messages.join()).toContain('directory with the name of the file')
  expect(messages.join()).not.toContain('/proc/')
})

test('an agent all of whose places fail says so of each', async () => {
  const { codes } = await deliver('embedded', (at) => [`${at}-x`, `${at}-y`])
  expect(codes).toEqual({ '-x': 203, '-y': 203 })
})

test('an agent and a container whose names join to those of another are not the other', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const other = await swarm.agent(server, 'a:b')
  const own = await swarm.agent(server, 'a', { containerId: 'c' })
  await untilConnected(server.engine, 2)
  const file = swarm.file(1_000)
  const { engineTaskId } = await server.engine.start(
    {
      projectId: 'p1',
      localPath: file.path,
      fileName: 'file.bin',
      size: file.size,
      signature: file.signature,
      targets: [
        { agentId: 'a', containerId: 'b:', user: '', directory: other.root },
        { agentId: 'a', containerId: 'c', user: '', directory: own.root },
      ],
      timeoutSeconds: 3600,
    },
    signal,
  )
  const result = await until(
    'the agent that is there has it',
    () => server.engine.result(engineTaskId, signal),
    ({ targets }) => targets.some(({ errorCode }) => errorCode === 0),
  )
  expect(result.targets.map(({ containerId, errorCode }) => [containerId, errorCode])).toEqual([
    ['b:', 115],
    ['c', 0],
  ])
  expect(existsSync(join(other.root, 'file.bin'))).toBe(false)
})
