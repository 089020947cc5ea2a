import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../kernel/index.ts'

/** What a ticket is good for: one task, or all that can be watched of a project. It ends with who issued it. */
export interface TicketFor {
  taskId: string | null
  /** The task's project; null for a task of the installation. */
  projectId: string | null
  /** The key that it was issued with; null when it was not a key. */
  keyId: string | null
  /** The session that it was issued in; null when there was none. */
  sessionId: string | null
}

/** In whose name a link is made: a caller's own ticket, so that it cannot renew itself for ever, or its key. */
export interface LinkIssuer {
  ticket?: string
  keyId?: string
  sessionId?: string
  /** Whether the caller may see everything. */
  isAdmin?: boolean
  /** The address that the caller used, like `https://wharf.example.com`. */
  origin?: string | undefined
}

export interface Ticket extends TicketFor {
  /** Milliseconds since 1970. */
  expiresAt: number
}

/**
 * Short-lived permission for one task or for a project's events, so that no project key has to enter a browser. Nothing is
 * stored; the signature says all there is to know, except whether project and key still exist: the caller checks that.
 */
export class Tickets {
  readonly #clock: Clock
  readonly #key: string

  constructor(clock: Clock, key: string) {
    this.#clock = clock
    this.#key = key
  }

  issue(
    { taskId, projectId, keyId, sessionId }: TicketFor,
    validMs: number,
  ): { ticket: string; expiresAt: number } {
    const expiresAt = this.#clock.now() + validMs
    // A version that knows no sessions reads what it knows.
    const facts = [taskId, expiresAt, projectId, keyId]
    const payload = Buffer.from(JSON.stringify(sessionId === null ? facts : [...facts, sessionId])).toString(
      'base64url',
    )
    return { ticket: `wt2.${payload}.${this.#sign(payload)}`, expiresAt }
  }

  /** The ticket's content, or undefined when it is not ours, was changed, or is over. */
  check(text: string): Ticket | undefined {
    const ticket = this.#read(text)
    return ticket && this.#clock.now() < ticket.expiresAt ? ticket : undefined
  }

  /** Whether a text that is good for nothing once was a ticket. */
  isOurs(text: string): boolean {
    return this.#read(text) !== undefined
  }

  #read(text: string): Ticket | undefined {
    const [, payload, signature] = FORM.exec(text) ?? []
    if (payload === undefined || signature === undefined) return undefined
    const given = Buffer.from(signature)
    const wanted = Buffer.from(this.#sign(payload))
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
    const [taskId, expiresAt, projectId, keyId, sessionId = null] = JSON.parse(
      Buffer.from(payload, 'base64url').toString(),
    ) as [string | null, number, string | null, string | null, string?]
    return { taskId, expiresAt, projectId, keyId, sessionId }
  }

  #sign(payload: string): string {
    return createHmac('sha256', this.#key).update(payload).digest('base64url')
  }
}

/** All of the text, and nothing after it. */
const FORM = /^wt2\.([\w-]+)\.([\w-]{43})$/
