import type { Log } from '../kernel/index.ts'
import { openRedis } from './open-redis.ts'

export interface RedisFacts {
  version: string
  /** Whether it writes anything to disk; null where this user may not ask. */
  persists: boolean | null
  /** What it does when its memory is full; null where this user may not ask. */
  eviction: string | null
  aheadMs: number
}

const ANSWER_MS = 5_000

export async function inspectRedis(log: Log, url: string): Promise<RedisFacts> {
  const redis = await openRedis(log, url, ANSWER_MS)
  try {
    await new Promise<void>((resolve, reject) => {
      redis.once('ready', resolve)
      redis.once('error', reject)
    })
    const info = await redis.info()
    const setting = async (name: string) => {
      const [, value] = (await redis.config('GET', name).catch(() => [])) as string[]
      return value ?? null
    }
    const save = await setting('save')
    const sent = Date.now()
    const [seconds = 0, micros = 0] = (await redis.time()).map(Number)
    const between = (sent + Date.now()) / 2
    return {
      version: lineOf(info, 'redis_version') ?? '',
      persists: save === null ? null : save !== '' || lineOf(info, 'aof_enabled') === '1',
      eviction: await setting('maxmemory-policy'),
      aheadMs: Math.round(seconds * 1_000 + micros / 1_000 - between),
    }
  } finally {
    redis.disconnect()
  }
}

function lineOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
}
