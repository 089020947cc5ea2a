import type { Redis } from 'ioredis'
import type { Log } from '../kernel/index.ts'

/** BLMOVE came with it. */
export const OLDEST_REDIS = '6.2.0'

/** A connection whose commands fail at once while Redis is away. The library is loaded only when there is a Redis. */
export async function openRedis(log: Log, url: string, answerMs: number): Promise<Redis> {
  const { connectRedis } = await import('./redis-connection.ts')
  return connectRedis(log, url, answerMs)
}
