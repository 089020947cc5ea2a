import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sha256sum } from '../../support/sha256sum.ts'
import { setupSwarm, targetsFor, untilConnected, untilOver } from '../../support/swarm.ts'

const MIB = 1024 * 1024
const signal = new AbortController().signal
const names = (count: number) => Array.from({ length: count }, (_, at) => `agent-${at}`)

describe('a relay between agents', () => {
  test('brings one file to every target, and takes it out of the server about once', async () => {
    const swarm = await setupSwarm()
    const server = await swarm.server()
    const agents = await Promise.all(names(6).map((id) => swarm.agent(server, id)))
    await untilConnected(server.engine, 6)
    const file = swarm.file(8 * MIB + 12_345)
    const order = {
      projectId: 'p1',
      localPath: file.path,
      fileName: 'file name 文.bin',
      size: file.size,
      signature: file.signature,
    }
    const { engineTaskId } = await server.engine.start(
      { ...order, targets: targetsFor(agents), timeoutSeconds: 3600 },
      signal,
    )
    const result = await untilOver(server.engine, engineTaskId)
    expect(result.uploadError).toBeNull()
    expect(result.targets.map(({ errorCode, progress }) => [errorCode, progress])).toEqual(
      agents.map(() => [0, 100]),
    )
    for (const { root } of agents) expect(sha256sum(join(root, 'in', order.fileName))).toBe(file.signature)
    expect(server.engine.egress.pieces).toBeLessThan(file.size * 1.3)
    // Told for the task as well, and still known when the task is asked about later.
    expect(result.egress).toBe(server.engine.egress.pieces)
    expect((await server.engine.result(engineTaskId, signal)).egress).toBe(result.egress)
    await server.close()
    const later = await swarm.server()
    expect((await later.engine.result(engineTaskId, signal)).egress).toBe(result.egress)
  })
})
