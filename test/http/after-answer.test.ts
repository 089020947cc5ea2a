import { expect, test } from 'vitest'
import { AfterAnswer } from '../../src/http/after-answer.ts'

test('a stop waits for what is still to be done when the answers are out', async () => {
  const after = new AfterAnswer()
  const gate = Promise.withResolvers<void>()
  const told: string[] = []
  after.add(
    'recording',
    gate.promise.then(() => void told.push('recorded')),
  )
  const stopped = after.done().then(() => told.push('stopped'))
  gate.resolve()
  await stopped
  expect(told).toEqual(['recorded', 'stopped'])
  await after.done()
})
