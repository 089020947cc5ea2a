import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../../support/backends.ts'
import { setupSwarm, sha256sum, targetsFor, untilConnected, untilOver } from '../../support/swarm.ts'
import { transferEngineContract } from './swarm-engine.contract.ts'

const FILE = 'contract.bin'
const signal = new AbortController().signal

for (const backend of availableBackends()) {
  describe(`swarm on ${backend}`, () => {
    transferEngineContract('swarm', async () => {
      const swarm = await setupSwarm(backend)
      const server = await swarm.server()
      const agents = await Promise.all(['one', 'two', 'three'].map((id) => swarm.agent(server, id)))
      await untilConnected(server.engine, agents.length)
      const file = swarm.file(3 * 1024 * 1024 + 7)
      return {
        engine: server.engine,
        order: {
          localPath: file.path,
          fileName: FILE,
          size: file.size,
          signature: file.signature,
          targets: targetsFor(agents),
          timeoutSeconds: 60,
        },
        silentTarget: { agentId: 'silent', containerId: 'none', user: '', directory: '/tmp' },
        deliveredTo: ({ directory }) => {
          const path = join(directory, FILE)
          return existsSync(path) ? sha256sum(path) : undefined
        },
        reopen: async () => {
          await server.close()
          return (await swarm.server({ port: server.port })).engine
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
        localPath: file.path,
        fileName: FILE,
        size: file.size,
        signature: file.signature,
        targets: targetsFor(agents),
        timeoutSeconds: 60,
      },
      signal,
    )
    const { targets } = await untilOver(there.engine, engineTaskId)
    expect(targets.map(({ errorCode }) => errorCode)).toEqual([0, 0, 0])
    for (const { root } of agents) expect(sha256sum(join(root, 'in', FILE))).toBe(file.signature)
  },
)
