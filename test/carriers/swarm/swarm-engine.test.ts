import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AppError, ERRORS } from '../../../src/kernel/index.ts'
import { availableBackends } from '../../support/backends.ts'
import { sha256sum } from '../../support/sha256sum.ts'
import { setupSwarm, targetsFor, untilConnected, untilOver } from '../../support/swarm.ts'
import { FILE_NAME as FILE, transferEngineContract } from '../../transfers/transfer-engine.contract.ts'

const signal = new AbortController().signal

for (const backend of availableBackends()) {
  describe(`on ${backend}`, () => {
    transferEngineContract('swarm', async () => {
      const swarm = await setupSwarm(backend)
      const server = await swarm.server()
      const agents = await Promise.all(['one', 'two', 'three'].map((id) => swarm.agent(swarm.front, id)))
      await untilConnected(server.engine, agents.length)
      const file = swarm.file(3 * 1024 * 1024 + 7)
      return {
        engine: server.engine,
        order: {
          projectId: 'p1',
          localPath: file.path,
          fileName: FILE,
          size: file.size,
          signature: file.signature,
          targets: targetsFor(agents),
          timeoutSeconds: 3600,
        },
        silentTarget: { agentId: 'silent', containerId: 'none', user: '', directory: '/tmp' },
        deliveredTo: ({ directory }) => {
          const path = join(directory, FILE)
          return existsSync(path) ? sha256sum(path) : undefined
        },
        reopen: async () => {
          await server.close()
          return (await swarm.server()).engine
        },
      }
    })
  })
}

test.runIf(availableBackends().length > 1)(
  'an agent that is connected to one instance takes part in a task of another',
  async () => {
    const swarm = await setupSwarm('postgres + redis')
    const [here, there] = [await swarm.server(), await swarm.server()]
    const agents = [
      await swarm.agent(here, 'at-the-first'),
      await swarm.agent(there, 'at-the-second'),
      await swarm.agent(here, 'at-the-first-too'),
    ]
    await untilConnected(here.engine, 3)
    const file = swarm.file(2 * 1024 * 1024)
    const { engineTaskId } = await there.engine.start(
      {
        projectId: 'p1',
        localPath: file.path,
        fileName: FILE,
        size: file.size,
        signature: file.signature,
        targets: targetsFor(agents),
        timeoutSeconds: 3600,
      },
      signal,
    )
    const { targets } = await untilOver(there.engine, engineTaskId)
    expect(targets.map(({ errorCode }) => errorCode)).toEqual([0, 0, 0])
    for (const { root } of agents) expect(sha256sum(join(root, 'in', FILE))).toBe(file.signature)
  },
)

test.each([
  ['a store that is away', new AppError(ERRORS.STORAGE_UNAVAILABLE, 'away'), 'STORAGE_UNAVAILABLE'],
  ['a disk that is full', Object.assign(new Error('no space left'), { code: 'ENOSPC' }), 'STORAGE_FULL'],
])('%s while a task is taken over does not end the task', async (_, outage, code) => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const agent = await swarm.agent(server, 'one')
  await untilConnected(server.engine, 1)
  const file = swarm.file(1024 * 1024)
  const order = {
    projectId: 'p1',
    localPath: file.path,
    fileName: FILE,
    size: file.size,
    signature: file.signature,
  }
  await agent.stop()
  const { engineTaskId } = await server.engine.start(
    { ...order, targets: targetsFor([agent]), timeoutSeconds: 3600 },
    signal,
  )
  await server.close()
  let away = true
  const locate = async ({ localPath }: { localPath: string }) => {
    if (away) throw outage
    return localPath
  }
  const other = await swarm.server({ locate })
  await expect(other.engine.result(engineTaskId, signal)).rejects.toMatchObject({ code })
  away = false
  await swarm.agent(other, 'one')
  const { targets } = await untilOver(other.engine, engineTaskId)
  expect(targets.map(({ errorCode }) => errorCode)).toEqual([0])
})
