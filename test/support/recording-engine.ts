import type {
  Carrier,
  TargetResult,
  TransferOrder,
  TransferResult,
  TransferTarget,
} from '../../src/carriers/index.ts'

/** An engine that carries nothing: it keeps what it was told, and answers what the test wants. */
export class RecordingEngine implements Carrier {
  readonly orders = new Map<string, TransferOrder>()
  readonly asked: string[] = []
  readonly terminated: { engineTaskId: string; agents: string[] }[] = []
  /** By default every target has the file at once. */
  answer: (order: TransferOrder, engineTaskId: string) => TransferResult | Promise<TransferResult> = (
    order,
  ) => allOf(order, 0)
  onStart: (order: TransferOrder) => void | Promise<void> = () => undefined
  #started = 0

  async start(order: TransferOrder): Promise<{ engineTaskId: string }> {
    await this.onStart(order)
    const engineTaskId = `recorded-${++this.#started}`
    this.orders.set(engineTaskId, order)
    return { engineTaskId }
  }

  async result(engineTaskId: string): Promise<TransferResult> {
    this.asked.push(engineTaskId)
    const order = this.orders.get(engineTaskId)
    if (!order) throw new Error(`there is no task ${engineTaskId}`)
    return this.answer(order, engineTaskId)
  }

  async terminate(
    engineTaskId: string,
    targets: Pick<TransferTarget, 'agentId' | 'containerId'>[],
  ): Promise<void> {
    this.terminated.push({ engineTaskId, agents: targets.map(({ agentId }) => agentId).sort() })
  }
}

/** The same answer for all targets of an order. */
export function allOf(order: TransferOrder, errorCode: number): TransferResult {
  return { uploadError: null, targets: order.targets.map((target) => rowOf(target, errorCode)) }
}

export function rowOf(
  { agentId, containerId, directory }: Pick<TransferTarget, 'agentId' | 'containerId' | 'directory'>,
  errorCode: number,
  progress = errorCode === 0 ? 100 : 40,
): TargetResult {
  return { agentId, containerId, directory, errorCode, errorMessage: errorCode === 0 ? '' : 'told', progress }
}
