import { describe, expect, test } from 'vitest'
import type {
  Carrier,
  TargetResult,
  TransferOrder,
  TransferResult,
  TransferTarget,
} from '../../src/carriers/index.ts'
import { until } from '../support/until.ts'

/** What an engine brings to its trial. */
export interface EngineUnderTest {
  engine: Carrier
  /** A file that is whole, and targets that can take it. */
  order: TransferOrder
  /** A target that goes on for ever without getting the file. */
  silentTarget: TransferTarget
  /** SHA-256 of what lies at a target, or undefined when nothing does. */
  deliveredTo(target: TransferTarget): string | undefined
  /** The same engine as another process would open it: nothing but ids survives. */
  reopen(): Carrier | Promise<Carrier>
}

const { signal } = new AbortController()
const DOWNLOADING = 115
const TERMINATED = 126

/** A name that must survive every format on its way. */
export const FILE_NAME = '应用 1.bin'

/** Every engine keeps these promises; each file that opens one runs them. */
export function transferEngineContract(name: string, open: () => Promise<EngineUnderTest>): void {
  describe(`the engine ${name}`, () => {
    test('brings the same bytes to every target under the name they should have', async () => {
      const { engine, order, deliveredTo } = await open()
      const { engineTaskId } = await engine.start(order, signal)
      const result = await untilEnded(engine, engineTaskId, order.targets.length)
      expect(result.uploadError).toBeNull()
      for (const target of order.targets) {
        expect(rowOf(result, target)?.errorCode).toBe(0)
        expect(deliveredTo(target)).toBe(order.signature)
      }
    })

    test('a target that does not answer leaves the others alone', async () => {
      const { engine, order, silentTarget, deliveredTo } = await open()
      const { engineTaskId } = await engine.start(withSilent(order, silentTarget), signal)
      await untilOthersHaveIt(engine, engineTaskId, order)
      for (const target of order.targets) expect(deliveredTo(target)).toBe(order.signature)
      expect(deliveredTo(silentTarget)).toBeUndefined()
    })

    test('terminates what is open and leaves what is done; twice is as good as once', async () => {
      const { engine, order, silentTarget } = await open()
      const all = withSilent(order, silentTarget)
      const { engineTaskId } = await engine.start(all, signal)
      await untilOthersHaveIt(engine, engineTaskId, order)
      await engine.terminate(engineTaskId, [silentTarget], signal)
      await engine.terminate(engineTaskId, [silentTarget], signal)
      const result = await untilEnded(engine, engineTaskId, all.targets.length)
      expect(rowOf(result, silentTarget)?.errorCode).toBe(TERMINATED)
      for (const target of order.targets) expect(rowOf(result, target)?.errorCode).toBe(0)
    })

    test('a task goes on by its id where nothing else is known of it', async () => {
      const { engine, order, deliveredTo, reopen } = await open()
      const { engineTaskId } = await engine.start(order, signal)
      const other = await reopen()
      const result = await untilEnded(other, engineTaskId, order.targets.length)
      for (const target of order.targets) {
        expect(rowOf(result, target)?.errorCode).toBe(0)
        expect(deliveredTo(target)).toBe(order.signature)
      }
    })

    test('a file that cannot be sent is an error of the source', async () => {
      const { engine, order, deliveredTo } = await open()
      const { engineTaskId } = await engine.start({ ...order, localPath: `${order.localPath}.gone` }, signal)
      const { uploadError } = await untilEnded(engine, engineTaskId, order.targets.length)
      expect(uploadError).not.toBeNull()
      for (const target of order.targets) expect(deliveredTo(target)).toBeUndefined()
    })
  })
}

function withSilent(order: TransferOrder, silentTarget: TransferTarget): TransferOrder {
  return { ...order, targets: [...order.targets, silentTarget] }
}

function rowOf({ targets }: TransferResult, target: TransferTarget): TargetResult | undefined {
  return targets.find(
    ({ agentId, containerId }) => agentId === target.agentId && containerId === target.containerId,
  )
}

async function untilEnded(engine: Carrier, id: string, targets: number): Promise<TransferResult> {
  return until(
    'every target has ended',
    () => engine.result(id, signal),
    (result) => {
      const ended = result.targets.filter(({ errorCode }) => errorCode !== DOWNLOADING)
      return ended.length === targets || result.uploadError !== null
    },
  )
}

async function untilOthersHaveIt(engine: Carrier, id: string, order: TransferOrder): Promise<void> {
  await until('the others have it', async () => {
    const { targets } = await engine.result(id, signal)
    return targets.filter(({ errorCode }) => errorCode === 0).length === order.targets.length
  })
}
