import { expect, test } from 'vitest'
import type { TransferEngine, TransferOrder, TransferTarget } from '../../../src/transfers/transfer-engine.ts'
import { until } from '../../support/until.ts'

/** What an engine brings to its trial. */
export interface EngineUnderTest {
  engine: TransferEngine
  /** A file that is whole, and targets that can take it. */
  order: TransferOrder
  /** A target that will never answer. */
  silentTarget: TransferTarget
  /** SHA-256 of what lies at a target, or undefined when nothing does. */
  deliveredTo(target: TransferTarget): string | undefined
  /** The same engine as another process would open it: nothing but ids survives. */
  reopen(): Promise<TransferEngine>
}

const { signal } = new AbortController()
const DOWNLOADING = 115
const TERMINATED = 126

async function untilEnded(engine: TransferEngine, id: string, targets: number) {
  return until('every target has ended', async () => {
    const result = await engine.result(id, signal)
    const ended = result.targets.filter(({ errorCode }) => errorCode !== DOWNLOADING)
    return (ended.length === targets || result.uploadError !== null) && result
  })
}

/** Every engine keeps these promises; each file that opens one runs them. */
export function transferEngineContract(name: string, open: () => Promise<EngineUnderTest>): void {
  test(`${name}: an order ends with the file at every target`, async () => {
    const { engine, order, deliveredTo } = await open()
    const { engineTaskId } = await engine.start(order, signal)
    const { targets, uploadError } = await untilEnded(engine, engineTaskId, order.targets.length)
    expect(uploadError).toBeNull()
    for (const target of order.targets) {
      const found = targets.find(
        ({ agentId, containerId }) => agentId === target.agentId && containerId === target.containerId,
      )
      expect(found?.errorCode).toBe(0)
      expect(deliveredTo(target)).toBe(order.signature)
    }
  })

  test(`${name}: a target that does not answer leaves the others alone`, async () => {
    const { engine, order, silentTarget, deliveredTo } = await open()
    const { engineTaskId } = await engine.start(
      { ...order, targets: [...order.targets, silentTarget] },
      signal,
    )
    await until('the others have it', async () => {
      const { targets } = await engine.result(engineTaskId, signal)
      return targets.filter(({ errorCode }) => errorCode === 0).length === order.targets.length
    })
    for (const target of order.targets) expect(deliveredTo(target)).toBe(order.signature)
  })

  test(`${name}: terminate ends what is open and leaves what is done, however often it is said`, async () => {
    const { engine, order, silentTarget } = await open()
    const all = [...order.targets, silentTarget]
    const { engineTaskId } = await engine.start({ ...order, targets: all }, signal)
    await until('the others have it', async () => {
      const { targets } = await engine.result(engineTaskId, signal)
      return targets.filter(({ errorCode }) => errorCode === 0).length === order.targets.length
    })
    await engine.terminate(engineTaskId, all, signal)
    await engine.terminate(engineTaskId, all, signal)
    const { targets } = await untilEnded(engine, engineTaskId, all.length)
    const silent = targets.find(({ agentId }) => agentId === silentTarget.agentId)
    expect(silent?.errorCode).toBe(TERMINATED)
    expect(targets.filter(({ errorCode }) => errorCode === 0)).toHaveLength(order.targets.length)
  })

  test(`${name}: a task goes on by its id where nothing else is known of it`, async () => {
    const { engine, order, reopen } = await open()
    const { engineTaskId } = await engine.start(order, signal)
    const other = await reopen()
    const { targets } = await untilEnded(other, engineTaskId, order.targets.length)
    expect(targets.map(({ errorCode }) => errorCode)).toEqual(order.targets.map(() => 0))
  })

  test(`${name}: a file that cannot be sent fails every target`, async () => {
    const { engine, order } = await open()
    const { engineTaskId } = await engine.start({ ...order, localPath: `${order.localPath}.gone` }, signal)
    const { uploadError } = await untilEnded(engine, engineTaskId, order.targets.length)
    expect(uploadError).not.toBeNull()
  })
}
