import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../kernel/index.ts'
import type { Topic } from './bus.ts'

export interface SignalEnvelopeOptions {
  /** The secret that all instances of one installation share, and nobody else. */
  key: string
  /** The ledger's clock, which all instances agree on. */
  clock: Clock
}

/** A message that took longer than this is lost: messages are hints, and an instance that missed one looks into the ledger. */
export const FRESH_MS = 60_000
const MAC_LENGTH = 43

type Sealed = [sender: string, number: number, sentAt: number, topic: Topic, message: unknown]

/**
 * Makes messages that only instances of this installation can write, and takes each of them once. Every text carries a
 * MAC, its sender, a number that grows and the time. A number that is not higher than the last one of its sender is a
 * replay; so is a message from before this instance began to listen, or one that is too old: numbers need be remembered
 * only for as long as a message may travel.
 */
export class BusEnvelope {
  readonly #options: SignalEnvelopeOptions
  readonly #sender = randomUUID()
  readonly #since: number
  readonly #heard = new Map<string, { number: number; at: number }>()
  #number = 0

  constructor(options: SignalEnvelopeOptions) {
    this.#options = options
    this.#since = options.clock.now()
  }

  seal(topic: Topic, message: unknown): string {
    const sealed: Sealed = [this.#sender, ++this.#number, this.#options.clock.now(), topic, message]
    const text = JSON.stringify(sealed)
    return this.#mac(text) + text
  }

  /** Undefined when it was not written by this installation, or is not new. */
  open(sealed: string): { topic: Topic; message: unknown } | undefined {
    const text = sealed.slice(MAC_LENGTH)
    const given = Buffer.from(sealed.slice(0, MAC_LENGTH))
    const wanted = Buffer.from(this.#mac(text))
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
    const [sender, number, sentAt, topic, message] = JSON.parse(text) as Sealed
    const now = this.#options.clock.now()
    if (sentAt < this.#since || Math.abs(now - sentAt) > FRESH_MS) return undefined
    if (number <= (this.#heard.get(sender)?.number ?? 0)) return undefined
    if (!this.#heard.has(sender)) this.#forget(now)
    this.#heard.set(sender, { number, at: sentAt })
    return { topic, message }
  }

  /** Senders whose last message could not be taken again for its age alone. */
  #forget(now: number): void {
    for (const [sender, { at }] of this.#heard) if (now - at > FRESH_MS) this.#heard.delete(sender)
  }

  #mac(text: string): string {
    return createHmac('sha256', this.#options.key).update(text).digest('base64url')
  }
}
