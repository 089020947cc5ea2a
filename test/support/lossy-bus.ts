import type { Topics } from '../../src/jobs/bus/bus.ts'
import { type Bus, InProcessBus } from '../../src/jobs/index.ts'

export interface BusMessage {
  topic: keyof Topics
  message: unknown
}

/** A bus of several instances in one process that loses what the test wants to be lost, as Redis does while it is away. */
export class LossyBus implements Bus {
  readonly #bus = new InProcessBus()
  readonly lost: BusMessage[] = []
  /** Asked for every message. */
  loses: (said: BusMessage) => boolean = () => false

  publish<T extends keyof Topics>(topic: T, message: Topics[T]): void {
    if (this.loses({ topic, message })) this.lost.push({ topic, message })
    else this.#bus.publish(topic, message)
  }

  subscribe<T extends keyof Topics>(topic: T, listener: (message: Topics[T]) => void): () => void {
    return this.#bus.subscribe(topic, listener)
  }

  close(): Promise<void> {
    return this.#bus.close()
  }
}
