import { Redis } from 'ioredis'
import { bestEffort, type Log } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import { measureRedis } from '../../redis/index.ts'
import { connectRedis, reconnectSoon } from '../../redis/redis-connection.ts'
import type { Bus, Topic, Topics } from './bus.ts'
import { BusEnvelope, type SignalEnvelopeOptions } from './bus-envelope.ts'
import { LedgerMail } from './ledger-mail.ts'
import { Listeners } from './listeners.ts'

export interface RedisSignalOptions extends SignalEnvelopeOptions {
  url: string
  prefix?: string
  /** Carries the messages while Redis is away; without it they are lost then. */
  ledger?: Ledger
}

const SAY_REFUSED_MS = 60_000

/**
 * One channel for all topics: a subscriber connection costs nothing while nothing is said. Redis carries the messages and
 * is not believed: what this installation did not write, or said before, is passed over.
 */
export class RedisBus implements Bus {
  readonly #log: Log
  readonly #publisher: Redis
  readonly #subscriber: Redis
  readonly #channel: string
  readonly #listeners: Listeners
  readonly #envelope: BusEnvelope
  readonly #mail: LedgerMail | undefined
  #closed = false
  #saidRefused = Number.NEGATIVE_INFINITY

  constructor(log: Log, { url, prefix = 'wharf', ledger, ...envelope }: RedisSignalOptions) {
    this.#log = log
    this.#listeners = new Listeners(log)
    this.#envelope = new BusEnvelope(envelope)
    const receive = (text: string) => this.#receive(text)
    this.#mail = ledger && new LedgerMail({ ledger, log, clock: envelope.clock, receive })
    this.#channel = `${prefix}:signal`
    this.#publisher = connectRedis(log, url)
    this.#subscriber = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: reconnectSoon })
    measureRedis(this.#subscriber)
    this.#subscriber.on('error', (error) => log.debug({ err: error }, 'redis connection error'))
    this.#subscriber.on('message', (_channel, text) => this.#receive(text))
    for (const line of [this.#publisher, this.#subscriber]) {
      line.on('close', () => {
        if (!this.#closed) this.#mail?.open()
      })
      line.on('ready', () => {
        if (this.#isThere()) this.#mail?.close()
      })
    }
    // ioredis subscribes again by itself after a reconnect.
    bestEffort(this.#subscriber.subscribe(this.#channel))
  }

  /** Resolves when messages of others can be heard, and others can hear. */
  async ready(): Promise<void> {
    await this.#subscriber.subscribe(this.#channel)
    if (this.#publisher.status === 'ready') return
    await new Promise((resolve) => this.#publisher.once('ready', resolve))
  }

  publish<T extends Topic>(topic: T, message: Topics[T]): void {
    const sealed = this.#envelope.seal(topic, message)
    if (this.#mail?.isOpen) {
      this.#mail.send(sealed)
      return
    }
    bestEffort(this.#publisher.publish(this.#channel, sealed), (err) => {
      this.#log.debug({ err, topic }, 'a message was not sent')
      this.#mail?.send(sealed)
    })
  }

  subscribe<T extends Topic>(topic: T, listener: (message: Topics[T]) => void): () => void {
    return this.#listeners.add(topic, listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#mail?.close()
    this.#listeners.clear()
    this.#publisher.disconnect()
    this.#subscriber.disconnect()
  }

  #isThere(): boolean {
    return [this.#publisher, this.#subscriber].every(({ status }) => status === 'ready')
  }

  #receive(text: string): void {
    try {
      const opened = this.#envelope.open(text)
      if (!opened) this.#refused()
      else if (isSignal(opened.topic, opened.message)) this.#listeners.notify(opened.topic, opened.message)
      else this.#log.debug({ topic: opened.topic }, 'a message of another version was ignored')
    } catch (error) {
      this.#log.warn({ err: error }, 'a message could not be read')
    }
  }

  #refused(): void {
    const now = performance.now()
    if (now - this.#saidRefused < SAY_REFUSED_MS) return
    this.#saidRefused = now
    const what = `a message on ${this.#channel} was refused: not written by this installation, late, or repeated`
    this.#log.warn(`${what}; see who may write to Redis`)
  }
}

type Fields = Readonly<Record<string, unknown>>

const SHAPES: Readonly<Record<Topic, (message: Fields) => boolean>> = {
  cancel: ({ jobId }) => typeof jobId === 'string',
  home: (message) => [message.jobId, message.pool, message.worker].every((id) => typeof id === 'string'),
  events: () => true,
  listening: ({ forMs }) => Number.isFinite(forMs),
  'who-listens': () => true,
  settings: ({ key }) => typeof key === 'string',
  keys: () => true,
  processing: () => true,
  swarm: ({ from, about }) => typeof from === 'string' && typeof about === 'string',
}

/** Whether listeners of the topic can use the message: one of another version may look otherwise. */
function isSignal(topic: unknown, message: unknown): topic is Topic {
  if (typeof topic !== 'string' || !Object.hasOwn(SHAPES, topic)) return false
  return typeof message === 'object' && message !== null && SHAPES[topic as Topic](message as Fields)
}
