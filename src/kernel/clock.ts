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
