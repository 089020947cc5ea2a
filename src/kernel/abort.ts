import type { Clock } from './clock.ts'

/**
 * Settles as `work` does, or with the signal's reason as soon as it aborts, even if `work` takes no notice of it.
 *
 * This is what `Promise.race` against a promise of the abort is not: such a promise keeps every result that was ever
 * raced against it, for as long as it lives. Here only the signal's listener refers to the wait, and it goes with it.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    const done = () => signal.removeEventListener('abort', abort)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    work.then(
      (value) => {
        done()
        resolve(value)
      },
      (error: unknown) => {
        done()
        reject(error)
      },
    )
  })
}

/** Passes a signal's abort on to the controller until the returned function is called, which removes the listener. */
export function follow(signal: AbortSignal, controller: AbortController): () => void {
  const abort = () => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return () => signal.removeEventListener('abort', abort)
}

/** Waits until `work` ends, well or badly, but no longer than `ms`. True if it ended. */
export async function endsWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController()
  const end = () => ended.abort()
  work.then(end, end)
  return clock.sleep(ms, ended.signal).then(
    () => false,
    () => true,
  )
}

/** Waits until `work` ends, well or badly, or the signal aborts. True if it ended. */
export async function endsBefore(signal: AbortSignal, work: Promise<unknown>): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  )
  return orAborted(ended, signal).catch(() => false)
}

/** One reason for all: making a new one for each deadline costs a stack trace. */
const DONE = new Error('the work is done')

export interface Deadline {
  /** Aborts with `late()` when the time is up, or with the outer signal's reason. */
  readonly signal: AbortSignal
  /** Ends the watch; an unfinished one would keep the process alive. */
  clear(): void
  /** Ends the watch and aborts what still uses the signal. */
  end(): void
}

/** Bounds the whole of some work: a source that sends one byte per second never trips a timeout between bytes. */
export function startDeadline(clock: Clock, ms: number, late?: () => Error, outer?: AbortSignal): Deadline {
  const cut = new AbortController()
  const timer = new AbortController()
  if (ms <= 0) cut.abort(late?.())
  else
    clock.sleep(ms, timer.signal).then(
      () => cut.abort(late?.()),
      () => undefined,
    )
  const unfollow = outer && follow(outer, cut)
  const clear = () => {
    timer.abort(DONE)
    unfollow?.()
  }
  return {
    signal: cut.signal,
    clear,
    end() {
      clear()
      cut.abort(DONE)
    },
  }
}

/** Does `work` with a signal that aborts after `ms`. */
export async function within<T>(
  clock: Clock,
  ms: number,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = startDeadline(clock, ms)
  try {
    return await work(deadline.signal)
  } finally {
    deadline.clear()
  }
}

/** Settles as `work` does, or with the caller's reason or `late()` once `ms` have passed, even if `work` takes no notice. */
export async function withDeadline<T>(
  clock: Clock,
  { ms, signal, late }: { ms: number; signal: AbortSignal; late: () => Error },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const deadline = startDeadline(clock, ms, late, signal)
  try {
    return await orAborted(work(deadline.signal), deadline.signal)
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : error
  } finally {
    deadline.end()
  }
}
