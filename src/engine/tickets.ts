import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../kernel/index.ts'

export interface Ticket {
  taskId: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/**
 * Short-lived permission for one task, so that no project key has to enter a browser: good for this task's WebSocket,
 * SSE and file. Nothing is stored; the signature says all there is to know.
 */
export class Tickets {
  readonly #clock: Clock
  readonly #key: string

  constructor(clock: Clock, key: string) {
    this.#clock = clock
    this.#key = key
  }

  issue(taskId: string, validMs: number): { ticket: string; expiresAt: number } {
    const expiresAt = this.#clock.now() + validMs
    const payload = Buffer.from(JSON.stringify([taskId, expiresAt])).toString('base64url')
    return { ticket: `wt1.${payload}.${this.#sign(payload)}`, expiresAt }
  }

  /** The ticket's content, or undefined when it is not ours, was changed, or is over. */
  check(text: string): Ticket | undefined {
    const [version, payload, signature] = text.split('.')
    if (version !== 'wt1' || !payload || !signature) return undefined
    const given = Buffer.from(signature)
    const wanted = Buffer.from(this.#sign(payload))
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
    const [taskId, expiresAt] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, number]
    return this.#clock.now() < expiresAt ? { taskId, expiresAt } : undefined
  }

  #sign(payload: string): string {
    return createHmac('sha256', this.#key).update(payload).digest('base64url')
  }
}
