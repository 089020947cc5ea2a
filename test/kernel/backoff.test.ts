import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffDelay, DEFAULT_BACKOFF } from '../../src/kernel/index.ts'

const plain = { base: 100, factor: 2, max: 1_000, jitter: 0 }

test('waits grow by the factor and stop growing at the maximum', () => {
  expect([1, 2, 3, 4, 5, 6, 50, 5_000].map((attempt) => backoffDelay(attempt, plain))).toEqual([
    100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000,
  ])
})

test('an attempt below the first counts as the first', () => {
  expect([0, -1].map((attempt) => backoffDelay(attempt, plain))).toEqual([100, 100])
})

test('chance moves a wait by its part to both sides, and no further', () => {
  const jittered = { ...plain, jitter: 0.5 }
  expect(backoffDelay(1, jittered, () => 0)).toBe(50)
  expect(backoffDelay(1, jittered, () => 0.5)).toBe(100)
  expect(backoffDelay(1, jittered, () => 1)).toBe(150)
})

test('a wait is always a whole number of milliseconds that a timer can take', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, chance) => {
        const delay = backoffDelay(attempt, DEFAULT_BACKOFF, () => chance)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(DEFAULT_BACKOFF.base * (1 - DEFAULT_BACKOFF.jitter))
        expect(delay).toBeLessThanOrEqual(DEFAULT_BACKOFF.max * (1 + DEFAULT_BACKOFF.jitter))
      },
    ),
  )
})
