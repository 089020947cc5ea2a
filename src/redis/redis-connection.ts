import { Redis } from 'ioredis'
import type { Log } from '../kernel/index.ts'
import { measureRedis } from './redis-meter.ts'
import { reportOutages } from './redis-outages.ts'

/** How long Redis may take for an answer before it counts as away. */
export const ANSWER_MS = 5_000

export function reconnectSoon(times: number): number {
  return Math.min(50 * 2 ** times, 1_000)
}

/**
 * A connection whose commands fail at once while Redis is away, instead of queueing in memory: the ledger already has
 * the work. A Redis that hangs is away as well: after `answerMs` without an answer its connection is given up, and
 * whatever comes next fails at once. Not for commands that block.
 */
export function connectRedis(log: Log, url: string, answerMs = ANSWER_MS): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: reconnectSoon,
    socketTimeout: answerMs,
  })
  reportOutages(redis, log)
  measureRedis(redis)
  return redis
}
