import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError, ERRORS } from '../kernel/index.ts'
import type { Principal } from './auth.ts'

export interface RateLimit {
  perSecond: number
  burst: number
}

/** `burst` requests within the time in which `perSecond` allows as many: short bursts pass, the average holds. */
export class RequestLimiter {
  readonly #limit: RateLimit
  readonly #window: number
  readonly #limiter: RateLimiterMemory

  constructor(limit: RateLimit) {
    this.#limit = limit
    this.#window = limit.burst / limit.perSecond
    this.#limiter = new RateLimiterMemory({ points: limit.burst, duration: this.#window })
  }

  /** Counts one request of `who`, tells it how it stands, and throws when it has had too many. */
  async count(who: string, reply?: FastifyReply): Promise<void> {
    let state: RateLimiterRes
    let limited = false
    try {
      state = await this.#limiter.consume(who)
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error
      state = error
      limited = true
    }
    const reset = Math.max(1, Math.ceil(state.msBeforeNext / 1000))
    const remaining = Math.max(0, state.remainingPoints)
    reply?.headers({
      'RateLimit-Policy': `${this.#limit.burst};w=${Math.ceil(this.#window)}`,
      RateLimit: `limit=${this.#limit.burst}, remaining=${remaining}, reset=${reset}`,
      'RateLimit-Limit': this.#limit.burst,
      'RateLimit-Remaining': remaining,
      'RateLimit-Reset': reset,
    })
    if (!limited) return
    const message = `more than ${this.#limit.perSecond} requests a second (burst ${this.#limit.burst}); try again in ${reset} s`
    throw new AppError(ERRORS.RATE_LIMITED, message, { retryAfter: reset })
  }
}

/** Whose requests are counted together. */
export function callerOf(principal: Principal | null, address: string): string {
  if (principal?.role === 'project') return `project ${principal.project.id}`
  if (principal?.role === 'ticket') return `ticket for ${principal.taskId ?? principal.projectId}`
  return principal ? 'admin' : `address ${address}`
}
