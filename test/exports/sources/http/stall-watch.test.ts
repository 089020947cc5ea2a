import { expect, test } from 'vitest'
import { whileNotStalled } from '../../../../src/exports/sources/ask/index.ts'
import { orAborted } from '../../../../src/kernel/index.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { until } from '../../../support/until.ts'

test('a source counts as slow only while this process has the time to read what it sends', async () => {
  const clock = new ManualClock()
  let busy = 0.95
  let asked = 0
  const ended = whileNotStalled(
    { clock, bytes: () => 0, busyness: () => () => busy },
    {
      patienceMs: 15_000,
      minBytesPerSecond: 1,
      signal: new AbortController().signal,
      othersWait: async () => ++asked > 0,
    },
    (signal) => orAborted(new Promise<never>(() => undefined), signal),
  )
  const outcome = expect(ended).rejects.toMatchObject({ code: 'SOURCE_STALLED' })
  for (let look = 0; look < 3; look++) {
    await until('it waits', () => clock.sleeping === 1)
    clock.advance(15_000)
  }
  await until('it waits', () => clock.sleeping === 1)
  expect(asked).toBe(0)
  busy = 0.5
  clock.advance(15_000)
  await outcome
  expect(asked).toBe(1)
})
