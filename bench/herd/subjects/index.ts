import { pollAndLock } from './poll-and-lock.ts'
import type { Subject } from './subject.ts'
import { wharf, wharfEmbedded } from './wharf.ts'

export const subjects = {
  poll: pollAndLock('poll + optimistic lock'),
  lock: pollAndLock('… with a Redis lock', { lock: true }),
  shards: pollAndLock('… with shards', { shards: true }),
  backoff: pollAndLock('… with 6 s back-off', { afterConflict: { ms: 6_000, deaf: false } }),
  deaf: pollAndLock('… with 6 s deaf back-off', { afterConflict: { ms: 6_000, deaf: true } }),
  wharf: wharf('Wharf'),
  lane: wharf('Wharf, lane of 16', { name: 'bench', limit: 16, policy: 'fifo' }),
  embedded: wharfEmbedded('Wharf embedded'),
} satisfies Record<string, Subject>

export type SubjectName = keyof typeof subjects
