import type { Redis } from 'ioredis'

/** The keys of a queue of BullMQ, and what each of them is in Redis. */
const TYPES: Readonly<Record<string, string>> = {
  wait: 'list',
  active: 'list',
  paused: 'list',
  delayed: 'zset',
  prioritized: 'zset',
  'waiting-children': 'zset',
  completed: 'zset',
  failed: 'zset',
  marker: 'zset',
  meta: 'hash',
  events: 'stream',
  stalled: 'set',
  id: 'string',
  pc: 'string',
}

export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.includes('WRONGTYPE')
}

/**
 * Removes the keys of a queue that somebody has made into something else: with them, nothing is taken in or handed out
 * any more. All that they held were wake-ups, which the leader publishes again. Returns what was removed.
 */
export async function repairQueue(redis: Redis, queue: string): Promise<string[]> {
  const removed: string[] = []
  for (const [name, expected] of Object.entries(TYPES)) {
    const key = `${queue}:${name}`
    const found = await redis.type(key)
    if (found === 'none' || found === expected) continue
    await redis.del(key)
    removed.push(key)
  }
  return removed
}
