import { AppError, type Clock, ERRORS, follow } from '../kernel/index.ts'

/** One reason for all: making a new one for each request costs a stack trace. */
const DONE = new Error('the exchange is over')

export interface Deadline {
  /** Aborts with `HTTP_TIMEOUT` when time is up, or with the caller's own reason. */
  readonly signal: AbortSignal
  /** Ends the watch; an unfinished one would keep the process alive. */
  clear(): void
}

/** A bound on the whole exchange: a source that drips one byte a second never trips the timeouts between bytes. */
export function startDeadline(clock: Clock, totalMs: number, host: string, outer?: AbortSignal): Deadline {
  const late = new AbortController()
  const over = new AbortController()
  clock.sleep(totalMs, over.signal).then(
    () =>
      late.abort(new AppError(ERRORS.HTTP_TIMEOUT, `${host} did not finish its answer within ${totalMs} ms`)),
    () => undefined,
  )
  const unfollow = outer && follow(outer, late)
  return {
    signal: late.signal,
    clear() {
      over.abort(DONE)
      unfollow?.()
    },
  }
}
