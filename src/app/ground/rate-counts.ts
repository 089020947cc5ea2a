import type { Config } from '../../config.ts'
import type { SharedCounts } from '../../http/index.ts'
import type { Log } from '../../kernel/index.ts'
import { openRedis } from '../../redis/index.ts'

/** No request waits longer than this for its count; after that each instance counts for itself until Redis is back. */
const ANSWER_MS = 1_000

/** Where instances count requests together; undefined without Redis. */
export async function openRateCounts(
  { redisUrl, WHARF_REDIS_PREFIX: prefix }: Config,
  log: Log,
): Promise<{ counts: SharedCounts; close(): void } | undefined> {
  if (redisUrl === null) return undefined
  const redis = await openRedis(log, redisUrl, ANSWER_MS)
  return { counts: { redis, prefix }, close: () => redis.disconnect() }
}
