import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { endsWithin, follow, orAborted, startDeadline, withDeadline } from '../../src/kernel/index.ts'
import { ManualClock } from '../support/manual-clock.ts'

const REASON = new Error('enough')
const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

test('a wait settles as its work does and leaves nothing at the signal', async () => {
  const { signal } = new AbortController()
  expect(await orAborted(Promise.resolve(7), signal)).toBe(7)
  await expect(orAborted(Promise.reject(REASON), signal)).rejects.toBe(REASON)
  expect(listeners(signal)).toBe(0)
})

test('a wait ends with the signal, though its work goes on', async () => {
  const stop = new AbortController()
  const work = Promise.withResolvers<number>()
  const wait = orAborted(work.promise, stop.signal)
  stop.abort(REASON)
  await expect(wait).rejects.toBe(REASON)
  // Work that fails after that is nobody's concern and must not end the process.
  work.reject(new Error('too late'))
  await expect(orAborted(Promise.reject(new Error('unheard')), stop.signal)).rejects.toBe(REASON)
  expect(listeners(stop.signal)).toBe(0)
})

test('a controller follows a signal until it is told to stop', () => {
  const [outer, inner, free] = [new AbortController(), new AbortController(), new AbortController()]
  follow(outer.signal, inner)
  follow(outer.signal, free)()
  expect(listeners(outer.signal)).toBe(1)
  outer.abort(REASON)
  expect(inner.signal.reason).toBe(REASON)
  expect(free.signal.aborted).toBe(false)
  const late = new AbortController()
  follow(outer.signal, late)
  expect(late.signal.reason).toBe(REASON)
})

test('work is given so long and no longer, and how it ends does not matter', async () => {
  const clock = new ManualClock()
  expect(await endsWithin(clock, 1_000, Promise.resolve())).toBe(true)
  expect(await endsWithin(clock, 1_000, Promise.reject(REASON))).toBe(true)
  const waiting = endsWithin(clock, 1_000, new Promise(() => undefined))
  await clock.untilAsleep()
  clock.advance(1_000)
  expect(await waiting).toBe(false)
  expect(clock.sleeping).toBe(0)
})

test('a deadline aborts when its time is up, with the outer reason before that, and leaves nothing behind', async () => {
  const clock = new ManualClock()
  const late = () => new Error('late')
  const outer = new AbortController()
  const [first, cleared] = [0, 1].map(() => startDeadline(clock, 1_000, late, outer.signal))
  cleared?.clear()
  clock.advance(1_000)
  await expect.poll(() => first?.signal.reason).toEqual(new Error('late'))
  first?.clear()
  expect([cleared?.signal.aborted, clock.sleeping, listeners(outer.signal)]).toEqual([false, 0, 0])
  const second = startDeadline(clock, 1_000, late, outer.signal)
  outer.abort(REASON)
  expect(second.signal.reason).toBe(REASON)
  second.clear()
  expect(clock.sleeping).toBe(0)
  expect(startDeadline(clock, 0, late).signal.reason).toEqual(new Error('late'))
})

test('work with a deadline ends with it, and what it has begun is aborted when it fails', async () => {
  const clock = new ManualClock()
  const { signal } = new AbortController()
  let given: AbortSignal | undefined
  const options = { ms: 1_000, signal, late: () => REASON }
  const stuck = withDeadline(clock, options, () => new Promise(() => undefined))
  await clock.untilAsleep()
  clock.advance(1_000)
  await expect(stuck).rejects.toBe(REASON)
  const failure = new Error('no')
  const failed = withDeadline(clock, options, async (inner) => {
    given = inner
    throw failure
  })
  await expect(failed).rejects.toBe(failure)
  expect([given?.aborted, clock.sleeping, listeners(signal)]).toEqual([true, 0, 0])
})
