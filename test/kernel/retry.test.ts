import { expect, test } from 'vitest'
import { AppError, ERRORS, withRetry } from '../../src/kernel/index.ts'
import type { RetryOptions } from '../../src/kernel/retry.ts'
import { ManualClock } from '../support/manual-clock.ts'

const BACKOFF = { base: 1_000, factor: 2, max: 60_000, jitter: 0 }

/** Runs to its end, moving the clock by each announced wait. */
async function run(
  outcomes: (unknown | 'ok')[],
  options: Partial<RetryOptions> = {},
): Promise<{ waits: number[]; tries: number; result: unknown }> {
  const clock = new ManualClock()
  const waits: number[] = []
  let tries = 0
  const result = await withRetry(
    async () => {
      const outcome = outcomes[tries++]
      if (outcome !== 'ok') throw outcome
      return outcome
    },
    {
      attempts: 5,
      clock,
      signal: new AbortController().signal,
      backoff: BACKOFF,
      onRetry: ({ waitMs }) => {
        waits.push(waitMs)
        void clock.untilAsleep().then(() => clock.advance(waitMs))
      },
      ...options,
    },
  ).catch((error: unknown) => error)
  return { waits, tries, result }
}

const busy = (retryAfter?: number) =>
  new AppError(ERRORS.HTTP_STATUS, 'busy', retryAfter === undefined ? {} : { retryAfter })

test('what fails is tried again at growing intervals', async () => {
  const { waits, tries, result } = await run([busy(), busy(), busy(), 'ok'])
  expect(waits).toEqual([1_000, 2_000, 4_000])
  expect([tries, result]).toEqual([4, 'ok'])
})

test('after the last try the last error stands', async () => {
  const last = busy()
  expect(await run([busy(), busy(), last], { attempts: 3 })).toMatchObject({ tries: 3, result: last })
})

test('an error that stays is not tried again', async () => {
  const refused = new AppError(ERRORS.ADDRESS_REFUSED, 'no', { retryable: false })
  expect(await run([refused, 'ok'])).toMatchObject({ tries: 1, result: refused })
})

test('a mistake in the program is not tried again', async () => {
  const mistake = new TypeError('x is not a function')
  expect(await run([mistake, 'ok'])).toMatchObject({ tries: 1, result: mistake })
})

test('the wait that the other side asks for is kept, up to a cap', async () => {
  const { waits } = await run([busy(30), busy(1), busy(9_999), 'ok'], { maxRetryAfterMs: 60_000 })
  expect(waits).toEqual([30_000, 2_000, 60_000])
})

test('an abort ends the wait with its reason', async () => {
  const stop = new AbortController()
  const { tries, result } = await run([busy(), 'ok'], {
    signal: stop.signal,
    onRetry: () => stop.abort(new Error('stopped')),
  })
  expect(tries).toBe(1)
  expect(result).toEqual(new Error('stopped'))
})

test('the caller may say what is worth another try, without a limit', async () => {
  const lost = new Error('the line is dead')
  const { tries, result } = await run([lost, lost, lost, lost, lost, lost, busy()], {
    attempts: Number.POSITIVE_INFINITY,
    isRetryable: (error) => !(error instanceof AppError),
  })
  expect(tries).toBe(7)
  expect(result).toBeInstanceOf(AppError)
})
