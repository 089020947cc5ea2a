import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import { AppError, counted, ERRORS } from '../../kernel/index.ts'
import type { Principal } from '../auth/index.ts'

export interface RateLimit {
  perSecond: number
  burst: number
}

/** Where instances count together. */
export interface SharedCounts {
  /** A connection whose commands fail at once while Redis is away. */
  redis: object
  prefix: string
}

const COUNT = readFileSync(new URL('count-request.lua', import.meta.url), 'utf8')

/**
 * `burst` requests within the time in which `perSecond` allows as many: short bursts pass, the average holds. With Redis all
 * instances count together; while it is away, each counts for itself.
 */
export class RequestLimiter {
  readonly #limit: RateLimit
  readonly #window: number
  readonly #limiter: RateLimiterAbstract

  constructor(limit: RateLimit, shared?: SharedCounts) {
    this.#limit = limit
    this.#window = limit.burst / limit.perSecond
    const options = { points: limit.burst, duration: this.#window }
    const local = new RateLimiterMemory(options)
    this.#limiter =
      shared === undefined
        ? local
        : new RateLimiterRedis({
            ...options,
            storeClient: shared.redis,
            keyPrefix: `${shared.prefix}:rate`,
            rejectIfRedisNotReady: true,
            insuranceLimiter: local,
            customIncrTtlLuaScript: COUNT,
          })
  }

  /** Counts one request of `who`, reports its standing, and throws when it has had too many. */
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
    // draft-ietf-httpapi-ratelimit-headers-10
    reply?.headers({
      'RateLimit-Policy': `"requests";q=${this.#limit.burst};w=${Math.ceil(this.#window)}`,
      RateLimit: `"requests";r=${remaining};t=${reset}`,
    })
    if (!limited) return
    const message = `more than ${counted(this.#limit.perSecond, 'request')} per second (burst ${this.#limit.burst}); try again in ${reset} s`
    throw new AppError(ERRORS.RATE_LIMITED, message, { retryAfter: reset })
  }
}

/** Whose requests are counted together. */
export function callerOf(principal: Principal | null, address: string): string {
  if (principal?.role === 'project') return `project ${principal.project.id}`
  if (principal?.role === 'ticket') return `ticket for ${principal.taskId ?? principal.projectId}`
  return principal ? 'admin' : `address ${address}`
}
