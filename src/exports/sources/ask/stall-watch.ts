import { performance } from 'node:perf_hooks'
import { AppError, bestEffort, type Clock, counted, ERRORS, follow } from '../../../kernel/index.ts'

export interface StallOptions {
  /** How long the source may send next to nothing before the place is given away. */
  patienceMs: number
  /** Whether somebody else waits for the place. */
  othersWait(): Promise<boolean>
}

/** The part of its time that this process may be busy and still tell whether a source sends anything. */
const MOST_BUSY = 0.9

export interface StallWatchOptions extends StallOptions {
  minBytesPerSecond: number
  signal: AbortSignal
}

interface StallWatchDeps {
  clock: Clock
  bytes(): number
  /** Begins to measure which part of its time this process is busy. */
  busyness?(): () => number
}

/**
 * Runs `fetch` until it ends, or until its source has sent next to nothing for a while and others wait: then it is
 * aborted with SOURCE_STALLED, and what it has is kept. Alone, a slow source has all the time that its pages may take. So it has
 * while this process is too busy to read what was sent: another export would fare no better in its place, and to go from one to
 * the other is work on top.
 */
export async function whileNotStalled<T>(
  { clock, bytes, busyness = loopBusyness }: StallWatchDeps,
  { patienceMs, othersWait, minBytesPerSecond, signal }: StallWatchOptions,
  fetch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const over = new AbortController()
  const unfollow = follow(signal, stop)
  const watch = async () => {
    for (let before = bytes(); ; before = bytes()) {
      const busy = busyness()
      await clock.sleep(patienceMs, over.signal)
      const slow = busy() < MOST_BUSY && bytes() - before < (minBytesPerSecond * patienceMs) / 1_000
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

/** Since it was called. */
function loopBusyness(): () => number {
  const start = performance.eventLoopUtilization()
  return () => performance.eventLoopUtilization(start).utilization
}

function stalled(patienceMs: number): AppError {
  const message = `the source sent next to nothing for ${counted(patienceMs / 1_000, 'second')} while other exports waited`
  return new AppError(ERRORS.SOURCE_STALLED, message)
}
