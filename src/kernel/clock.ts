/** Where time comes from, so that tests can move it. All times are milliseconds since 1970. */
export interface Clock {
  now(): number
  /** Resolves after `ms`, or rejects with the signal's reason as soon as that aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(ms, signal) {
    // Not node:timers/promises: that makes an error with a stack trace for each sleep that is no longer needed, which is
    // most of them, as deadlines sleep too.
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', abort, { once: true })
    })
  },
}

const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/

/**
 * The time that an ISO 8601 date, or date with time, means; undefined for anything else. `Date.parse` alone reads '40' as the
 * year 2040, and of 30 February it makes a day in March.
 */
export function readIsoTime(text: string): number | undefined {
  const day = ISO_TIME.exec(text)?.[1]
  if (day === undefined) return undefined
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}
