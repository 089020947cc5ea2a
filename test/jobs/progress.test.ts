import { expect, test } from 'vitest'
import { ProgressThrottle } from '../../src/jobs/progress.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

test('a value that could not be written is tried again, and is handed back at the end', async () => {
  const clock = new ManualClock()
  const tried: unknown[] = []
  const progress = new ProgressThrottle(clock, async (value) => {
    tried.push(value)
    return false
  })
  progress.report(1)
  await until('it was tried again', async () => {
    clock.advance(1_000)
    return tried.length > 1
  })
  expect(await progress.close()).toBe(1)
})

test('a newer value takes the place of one that could not be written', async () => {
  const written = Promise.withResolvers<boolean>()
  const progress = new ProgressThrottle(new ManualClock(), () => written.promise)
  progress.report(1)
  progress.report(2)
  const closed = progress.close()
  written.resolve(false)
  expect(await closed).toBe(2)
})

test('what was written is not handed back', async () => {
  const progress = new ProgressThrottle(new ManualClock(), async () => true)
  progress.report(1)
  expect(await progress.close()).toBeUndefined()
})
