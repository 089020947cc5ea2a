import { AppError, bestEffort, type Clock, ERRORS, follow } from '../../../kernel/index.ts'

export interface StallOptions {
  /** How long the source may send next to nothing before the place is given away. */
  patienceMs: number
  /** Whether somebody else waits for the place. */
  othersWait(): Promise<boolean>
}

export interface StallWatchOptions extends StallOptions {
  minBytesPerSecond: number
  signal: AbortSignal
}

/**
 * Runs `fetch` until it ends, or until its source has sent next to nothing for a while and others wait: then it is
 * aborted with SOURCE_STALLED, and what it has is kept. Alone, a slow source has all the time that its pages may take.
 */
export async function whileNotStalled<T>(
  { clock, bytes }: { clock: Clock; bytes(): number },
  { patienceMs, othersWait, minBytesPerSecond, signal }: StallWatchOptions,
  fetch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const over = new AbortController()
  const unfollow = follow(signal, stop)
  const watch = async () => {
    for (let before = bytes(); ; before = bytes()) {
      await clock.sleep(patienceMs, over.signal)
      const slow = bytes() - before < (minBytesPerSecond * patienceMs) / 1_000
      if (slow && (await othersWait()) && !over.signal.aborted) stop.abort(stalled(patienceMs))
    }
  }
  // Ends with the fetch. A ledger that cannot be asked is no reason to give the place away.
  bestEffort(watch())
  try {
    return await fetch(stop.signal)
  } finally {
    over.abort()
    unfollow()
  }
}

function stalled(patienceMs: number): AppError {
  const message = `the source sent next to nothing for ${patienceMs / 1_000} seconds while other exports waited`
  return new AppError(ERRORS.SOURCE_STALLED, message)
}
