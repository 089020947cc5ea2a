import { expect, test } from 'vitest'
import { RestingDuty } from '../../src/processing/duties/index.ts'
import { ManualClock } from '../support/manual-clock.ts'

function setup() {
  const clock = new ManualClock()
  const { signal } = new AbortController()
  let runs = 0
  let idle = true
  let during: () => void = () => undefined
  const duty = {
    name: 'work',
    async runOnce() {
      runs++
      during()
      return { idle }
    },
  }
  const resting = new RestingDuty(duty, clock, 60_000)
  return {
    clock,
    resting,
    turn: () => resting.runOnce(signal),
    runs: () => runs,
    busy: (value: boolean) => (idle = !value),
    whileItRuns: (work: () => void) => (during = work),
  }
}

test('a duty with nothing to do passes over its turns until its rest is over', async () => {
  const { clock, turn, runs } = setup()
  await turn()
  await turn()
  await clock.advance(59_999)
  await turn()
  expect(runs()).toBe(1)
  await clock.advance(1)
  await turn()
  expect(runs()).toBe(2)
})

test('one that has something to do takes every turn', async () => {
  const { turn, runs, busy } = setup()
  busy(true)
  await turn()
  await turn()
  expect(runs()).toBe(2)
})

test('one that is woken takes its next turn, also if that happened while it looked', async () => {
  const { resting, turn, runs, whileItRuns } = setup()
  await turn()
  resting.wake()
  whileItRuns(() => resting.wake())
  await turn()
  whileItRuns(() => undefined)
  await turn()
  await turn()
  expect(runs()).toBe(3)
})
