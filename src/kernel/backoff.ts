export interface Backoff {
  /** First wait in milliseconds. */
  readonly base: number
  /** Each further wait is this many times the one before. */
  readonly factor: number
  readonly max: number
  /** Part of the wait that is random, 0 to 1: it keeps many waiters from coming back at the same moment. */
  readonly jitter: number
}

export const DEFAULT_BACKOFF: Backoff = { base: 1_000, factor: 2, max: 60_000, jitter: 0.2 }

/** How long to wait before try number `attempt + 1`, with `attempt` counted from 1. */
export function backoffDelay(
  attempt: number,
  backoff: Backoff = DEFAULT_BACKOFF,
  random = Math.random,
): number {
  const grown = Math.min(backoff.max, backoff.base * backoff.factor ** Math.max(0, attempt - 1))
  return Math.round(grown * (1 - backoff.jitter + 2 * backoff.jitter * random()))
}
