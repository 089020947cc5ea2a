import type { Config } from '../../config.ts'
import { createLog, messageOf } from '../../kernel/index.ts'
import { inspectRedis, OLDEST_REDIS } from '../../redis/index.ts'
import { checkClock } from './check-ledger.ts'
import { type Finding, fail, isAtLeast, ok, warn } from './finding.ts'

/** `living`: instances of the ledger that are alive, as far as it could be read. */
export async function checkRedis({ redisUrl, DATABASE_URL }: Config, living: number): Promise<Finding[]> {
  if (redisUrl === null) {
    if (DATABASE_URL === null) return []
    if (living > 1)
      return [
        fail(
          'redis',
          `none, and ${living} instances run on this ledger: set the same REDIS_URL on each of them`,
          'redis_missing',
          { count: living },
        ),
      ]
    return [ok('redis', 'none: one instance alone may run; set REDIS_URL for several', 'redis_none')]
  }
  const where = `Redis at ${new URL(redisUrl).host}`
  try {
    const facts = await inspectRedis(createLog({ level: 'silent' }), redisUrl)
    const findings = [
      isAtLeast(facts.version, OLDEST_REDIS)
        ? ok('redis', `Redis ${facts.version} answers`, 'redis', { version: facts.version })
        : fail(
            'redis',
            `Redis ${facts.version} is too old; Wharf needs ${OLDEST_REDIS} or newer`,
            'redis_old',
            { version: facts.version, oldest: OLDEST_REDIS },
          ),
    ]
    if (facts.persists === false)
      findings.push(
        warn(
          'redis',
          'it keeps nothing on disk: after its restart, work waits until the leader has published it again',
          'redis_forgets',
        ),
      )
    if (facts.persists === null)
      findings.push(
        warn(
          'redis',
          'whether it keeps anything on disk is not known: this user may not use CONFIG GET',
          'redis_unknown',
        ),
      )
    if (facts.eviction !== null && facts.eviction !== 'noeviction')
      findings.push(
        warn(
          'redis',
          `maxmemory-policy is ${facts.eviction}: when full it drops tasks and wake-ups; set noeviction`,
          'redis_drops',
          { policy: facts.eviction },
        ),
      )
    return [...findings, ...checkClock('Redis', facts.aheadMs)]
  } catch (error) {
    const reason = messageOf(error)
    return [
      fail('redis', `${where} cannot be used (${reason}); check REDIS_URL`, 'redis_unusable', {
        where,
        reason,
      }),
    ]
  }
}
