import { Redis } from 'ioredis'
import type { Log } from '../../kernel/index.ts'
import { connectRedis, reconnectSoon } from '../redis-connection.ts'
import { Listeners } from './listeners.ts'
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
  readonly #listeners: Listeners

  constructor(log: Log, { url, prefix = 'wharf' }: RedisSignalOptions) {
    this.#log = log
    this.#listeners = new Listeners(log)
    this.#channel = `${prefix}:signal`
    this.#publisher = connectRedis(log, url)
    this.#subscriber = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: reconnectSoon })
    this.#subscriber.on('error', (error) => log.debug({ err: error }, 'redis connection error'))
    this.#subscriber.on('message', (_channel, text) => this.#receive(text))
    // ioredis subscribes again by itself after a reconnect.
    this.#subscriber.subscribe(this.#channel).catch(() => undefined)
  }

  /** Resolves when messages of others can be heard, and others can hear. */
  async ready(): Promise<void> {
    await this.#subscriber.subscribe(this.#channel)
    if (this.#publisher.status === 'ready') return
    await new Promise((resolve) => this.#publisher.once('ready', resolve))
  }

  publish<T extends Topic>(topic: T, message: Topics[T]): void {
    this.#publisher
      .publish(this.#channel, JSON.stringify([topic, message]))
      .catch((error) => this.#log.debug({ err: error, topic }, 'a signal was not sent'))
  }

  subscribe<T extends Topic>(topic: T, listener: (message: Topics[T]) => void): () => void {
    return this.#listeners.add(topic, listener)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    this.#publisher.disconnect()
    this.#subscriber.disconnect()
  }

  #receive(text: string): void {
    try {
      const [topic, message] = JSON.parse(text) as [Topic, unknown]
      this.#listeners.tell(topic, message)
    } catch (error) {
      this.#log.warn({ err: error }, 'a signal could not be read')
    }
  }
}
