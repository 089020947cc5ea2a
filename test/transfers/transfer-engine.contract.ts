import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { TransferEngine, TransferOrder, TransferResult } from '../../src/transfers/index.ts'
import { until } from '../support/until.ts'

/** An engine with agents that a test can reach. */
export interface EngineUnderTest {
  engine: TransferEngine
  agents: { agentId: string; containerId: string }[]
  /** A directory that every agent may write to, as the order names it. */
  directory: string
  /** Where an agent's file really is. */
  placeOf(agentId: string, containerId: string, path: string): string
  /** From now on this agent goes on for ever without getting the file. */
  hold(agentId: string): void | Promise<void>
  /** The engine as another instance would open it. */
  reopen(): TransferEngine | Promise<TransferEngine>
}

const CONTENT = Buffer.alloc(600_000, 'carried by an engine ')
const SIGNATURE = createHash('sha256').update(CONTENT).digest('hex')

export function transferEngineContract(name: string, open: (folder: string) => Promise<EngineUnderTest>) {
  describe(`the engine ${name}`, () => {
    async function setup() {
      const folder = mkdtempSync(join(tmpdir(), 'wharf-engine-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const opened = await open(folder)
      const localPath = join(folder, SIGNATURE)
      writeFileSync(localPath, CONTENT)
      const order: TransferOrder = {
        localPath,
        fileName: '应用 1.bin',
        size: CONTENT.length,
        signature: SIGNATURE,
        targets: opened.agents.map((agent) => ({ ...agent, user: '', directory: opened.directory })),
        timeoutSeconds: 60,
      }
      return { ...opened, order, signal: new AbortController().signal }
    }

    const codesOf = ({ targets }: TransferResult) =>
      Object.fromEntries(targets.map((row) => [`${row.agentId}:${row.containerId}`, row.errorCode]))

    async function untilEnded(engine: TransferEngine, id: string, count: number, signal: AbortSignal) {
      return until('every target has ended', async () => {
        const result = await engine.result(id, signal)
        const ended = Object.values(codesOf(result)).filter((code) => code !== 115)
        return ended.length === count && result
      })
    }

    test('brings the same bytes to every target under the name they should have', async () => {
      const { engine, order, agents, directory, placeOf, signal } = await setup()
      const { engineTaskId } = await engine.start(order, signal)
      const result = await untilEnded(engine, engineTaskId, agents.length, signal)
      expect(result.uploadError).toBeNull()
      for (const { agentId, containerId } of agents) {
        expect(codesOf(result)[`${agentId}:${containerId}`]).toBe(0)
        const file = readFileSync(placeOf(agentId, containerId, join(directory, order.fileName)))
        expect(file.equals(CONTENT)).toBe(true)
      }
    })

    test('another instance goes on with the same task', async () => {
      const { engine, reopen, order, agents, signal } = await setup()
      const { engineTaskId } = await engine.start(order, signal)
      const other = await reopen()
      const result = await untilEnded(other, engineTaskId, agents.length, signal)
      expect(Object.values(codesOf(result)).every((code) => code === 0)).toBe(true)
    })

    test('terminates the targets that are open and leaves the others alone; twice is as good as once', async () => {
      const { engine, hold, order, agents, signal } = await setup()
      const [stuck, ...rest] = agents
      await hold(stuck!.agentId)
      const { engineTaskId } = await engine.start(order, signal)
      await untilEnded(engine, engineTaskId, rest.length, signal)
      await engine.terminate(engineTaskId, [stuck!], signal)
      await engine.terminate(engineTaskId, [stuck!], signal)
      const codes = codesOf(await untilEnded(engine, engineTaskId, agents.length, signal))
      expect(codes[`${stuck!.agentId}:${stuck!.containerId}`]).not.toBe(0)
      for (const { agentId, containerId } of rest) expect(codes[`${agentId}:${containerId}`]).toBe(0)
    })
  })
}
