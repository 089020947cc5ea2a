import { EventEmitter } from 'node:events'
import type { Signal, Topic, Topics } from './signal.ts'

export class InProcessSignal implements Signal {
  readonly #emitter = new EventEmitter().setMaxListeners(0)

  publish<T extends Topic>(topic: T, message: Topics[T]): void {
    // Not within the publisher's own turn: it has other things to finish first, as it would over a network.
    setImmediate(() => this.#emitter.emit(topic, message))
  }

  subscribe<T extends Topic>(topic: T, listener: (message: Topics[T]) => void): () => void {
    this.#emitter.on(topic, listener)
    return () => this.#emitter.off(topic, listener)
  }

  async close(): Promise<void> {
    this.#emitter.removeAllListeners()
  }
}
