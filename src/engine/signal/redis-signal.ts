import { EventEmitter } from 'node:events'
import { Redis } from 'ioredis'
import type { Log } from '../../kernel/index.ts'
import type { Signal, Topic, Topics } from './signal.ts'

export interface RedisSignalOptions {
  url: string
  prefix?: string
}

/** One channel for all topics: a subscriber connection costs nothing while nothing is said. */
export class RedisSignal implements Signal {
  readonly #log: Log
  readonly #publisher: Redis
  readonly #subscriber: Redis
  readonly #channel: string
  readonly #emitter = new EventEmitter().setMaxListeners(0)

  constructor(log: Log, { url, prefix = 'wharf' }: RedisSignalOptions) {
    this.#log = log
    this.#channel = `${prefix}:signal`
    const retryStrategy = (times: number) => Math.min(50 * 2 ** times, 1_000)
    this.#publisher = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy })
    this.#subscriber = new Redis(url, { maxRetriesPerRequest: null, retryStrategy })
    for (const redis of [this.#publisher, this.#subscriber]) {
      redis.on('error', (error) => log.debug({ err: error }, 'redis connection error'))
    }
    this.#subscriber.on('message', (_channel, text) => this.#receive(text))
    // ioredis subscribes again by itself after a reconnect.
    void this.#subscriber.subscribe(this.#channel).catch(() => undefined)
  }

  /** Resolves when messages of others can be heard. */
  async ready(): Promise<void> {
    await this.#subscriber.subscribe(this.#channel)
  }

  publish<T extends Topic>(topic: T, message: Topics[T]): void {
    this.#publisher
      .publish(this.#channel, JSON.stringify([topic, message]))
      .catch((error) => this.#log.debug({ err: error, topic }, 'a signal was not sent'))
  }

  subscribe<T extends Topic>(topic: T, listener: (message: Topics[T]) => void): () => void {
    this.#emitter.on(topic, listener)
    return () => this.#emitter.off(topic, listener)
  }

  async close(): Promise<void> {
    this.#emitter.removeAllListeners()
    this.#publisher.disconnect()
    this.#subscriber.disconnect()
  }

  #receive(text: string): void {
    try {
      const [topic, message] = JSON.parse(text) as [Topic, unknown]
      this.#emitter.emit(topic, message)
    } catch (error) {
      this.#log.warn({ err: error }, 'a signal could not be read')
    }
  }
}
