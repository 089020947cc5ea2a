import { EventEmitter } from 'node:events'
import { type Log, messageOf } from '../../kernel/index.ts'
import type { Topic, Topics } from './bus.ts'

/** The listeners of this process. One that throws does not affect the others. */
export class Listeners {
  readonly #emitter = new EventEmitter().setMaxListeners(0)
  readonly #log: Log | undefined

  constructor(log?: Log) {
    this.#log = log
  }

  add<T extends Topic>(topic: T, listener: (message: Topics[T]) => void): () => void {
    const careful = (message: Topics[T]) => {
      try {
        listener(message)
      } catch (error) {
        this.#log?.error({ err: error, topic }, `a listener failed: ${messageOf(error)}`)
      }
    }
    this.#emitter.on(topic, careful)
    return () => this.#emitter.off(topic, careful)
  }

  notify(topic: Topic, message: unknown): void {
    this.#emitter.emit(topic, message)
  }

  clear(): void {
    this.#emitter.removeAllListeners()
  }
}
