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

/** Passes a signal's abort on to the controller until the returned function is called, which leaves nothing behind. */
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

/** Does `work` with a signal that aborts after `ms`. */
export async function within<T>(
  clock: Clock,
  ms: number,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const until = new AbortController()
  const ended = new AbortController()
  clock.sleep(ms, ended.signal).then(
    () => until.abort(),
    () => undefined,
  )
  try {
    return await work(until.signal)
  } finally {
    ended.abort()
  }
}
