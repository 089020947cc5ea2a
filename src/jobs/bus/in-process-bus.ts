import type { Log } from '../../kernel/index.ts'
import type { Bus, Topic, Topics } from './bus.ts'
import { Listeners } from './listeners.ts'

export class InProcessBus implements Bus {
  readonly #listeners: Listeners

  constructor(log?: Log) {
    this.#listeners = new Listeners(log)
  }

  publish<T extends Topic>(topic: T, message: Topics[T]): void {
    // Not within the publisher's own turn: it has other things to finish first, as it would over a network.
    setImmediate(() => this.#listeners.notify(topic, message))
  }

  subscribe<T extends Topic>(topic: T, listener: (message: Topics[T]) => void): () => void {
    return this.#listeners.add(topic, listener)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
  }
}
