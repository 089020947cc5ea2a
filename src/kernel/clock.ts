import { setTimeout as delay } from 'node:timers/promises'

/** Where time comes from, so that tests can move it. All times are milliseconds since 1970. */
export interface Clock {
  now(): number
  /** Resolves after `ms`, or rejects with the signal's reason as soon as that aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, signal ? { signal, ref: true } : { ref: true })
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    }
  },
}
