import { expect, test } from 'vitest'
import { PageGetter } from '../../../../src/exports/sources/ask/index.ts'
import { PageBody } from '../../../../src/exports/sources/index.ts'
import type { PageSource } from '../../../../src/exports/sources/pages/index.ts'
import { chunks, MemorySource } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

const options = { maxPageBytes: 1_000, pageTimeoutMs: 600_000, maxRetryAfterMs: 300_000 }
const signal = new AbortController().signal

test('a source that tells one fetcher to wait is left in peace by all', async () => {
  const clock = new PatientClock()
  const source = new MemorySource(({ page }) =>
    page === 0 ? { status: 429, headers: { 'retry-after': '90' } } : { data: [] },
  )
  const getter = new PageGetter({ source, clock }, options)
  await expect(getter.get(0, 10, new PageBody(), signal)).rejects.toMatchObject({ retryAfter: 90 })
  const other = getter.get(1, 10, new PageBody(), signal)
  await new Promise(setImmediate)
  expect(source.pages).toEqual([0])
  clock.advance(90_000)
  await other
  expect(source.pages).toEqual([0, 1])
})

test('a source that ignores its signal does not hold the fetch up', async () => {
  const stop = new AbortController()
  const stuck = { get: () => new Promise<never>(() => undefined) }
  const getter = new PageGetter({ source: stuck, clock: new PatientClock() }, options)
  const asked = getter.get(0, 10, new PageBody(), stop.signal)
  stop.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
})

test('an answer that comes after its time does not touch the next one', async () => {
  const clock = new PatientClock()
  const late = Promise.withResolvers<void>()
  const source: PageSource = {
    async get(page) {
      if (page === 0) await late.promise
      return { status: 200, headers: {}, body: chunks(`page ${page}`) }
    },
  }
  const getter = new PageGetter({ source, clock }, options)
  const body = new PageBody()
  const given = expect(getter.get(0, 10, body, signal)).rejects.toThrow('page 0 took longer than 600 seconds')
  clock.advance(600_000)
  await given
  await getter.get(1, 10, body, signal)
  late.resolve()
  await new Promise(setImmediate)
  expect(body.bytes.toString('utf8', 0, body.length)).toBe('page 1')
})

test('a page that drips is given up, however long its source has looked for it before', async () => {
  const clock = new PatientClock()
  async function* dripping() {
    clock.advance(100_000)
    for (;;) {
      yield Buffer.from('x')
      clock.advance(10_000)
    }
  }
  const source: PageSource = { get: async () => ({ status: 200, headers: {}, body: dripping() }) }
  const getter = new PageGetter({ source, clock }, { ...options, minBytesPerSecond: 100 })
  await expect(getter.get(7, 10, new PageBody(), signal)).rejects.toMatchObject({
    code: 'SOURCE_TOO_SLOW',
    message: 'page 7 came with fewer than 100 bytes per second',
  })
  expect(getter.bytes).toBe(4)
})
