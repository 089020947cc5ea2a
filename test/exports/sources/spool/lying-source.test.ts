import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { ERRORS } from '../../../../src/kernel/index.ts'
import { fetchSample, textOf } from './fetch-setup.ts'
import { type Asked, loopbackSource } from './loopback-source.ts'
import { pageOf, sampleRows, spoolText } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

const rows = sampleRows(350)
const pageText = (asked: Asked) => JSON.stringify({ total: 350, data: pageOf(rows, asked) })
const good = (asked: Asked) => asked.response.end(pageText(asked))
const isFirst = ({ page, pageSize, again }: Asked) => page === 1 && pageSize > 1 && again === 0

/** Behaves, but for the first time that page 1 is asked for. */
function misbehavesOnce(bad: (asked: Asked) => void): (asked: Asked) => void {
  return (asked) => (isFirst(asked) ? bad(asked) : good(asked))
}

describe('a source that fails once is asked again', () => {
  test.each<[string, (asked: Asked) => void]>([
    ['status 500', ({ response }) => response.writeHead(500).end('{}')],
    ['a cut connection before the answer', ({ response }) => response.destroy()],
    [
      'a cut connection within the answer',
      (asked) => {
        asked.response.writeHead(200, { 'content-length': 10_000 })
        asked.response.write(pageText(asked).slice(0, 500), () => asked.response.destroy())
      },
    ],
    [
      'a content length that is too small',
      (asked) =>
        asked.response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n${pageText(asked)}`),
    ],
    [
      'a content length that is too large',
      (asked) =>
        asked.response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n${pageText(asked)}`),
    ],
    ['an HTML page', ({ response }) => response.end('<html>maintenance</html>')],
    ['nothing', ({ response }) => response.writeHead(204).end()],
  ])('%s', async (_, bad) => {
    const clock = new PatientClock()
    const source = await loopbackSource(misbehavesOnce(bad))
    expect(textOf(await fetchSample(source, {}, clock))).toBe(spoolText(rows))
    expect(clock.waits).toHaveLength(1)
  })
})

test('a slow drip that ends is read to its end', async () => {
  const source = await loopbackSource(async (asked) => {
    const text = pageText(asked)
    for (let at = 0; at < text.length; at += 64)
      if (!asked.response.write(text.slice(at, at + 64))) await once(asked.response, 'drain')
    asked.response.end()
  })
  expect(textOf(await fetchSample(source))).toBe(spoolText(rows))
})

test('a drip that never ends is given up after its time, and asked for again', async () => {
  const clock = new PatientClock()
  const source = await loopbackSource(
    misbehavesOnce((asked) => {
      asked.response.write(pageText(asked).slice(0, 100), () => clock.advance(120_000))
    }),
  )
  expect(textOf(await fetchSample(source, {}, clock))).toBe(spoolText(rows))
})

test('a page of 10 MB is read', async () => {
  const note = 'x'.repeat(100_000)
  const source = await loopbackSource((asked) => {
    const data = pageOf(rows.slice(0, 100), asked).map((row) => ({ ...row, name: note }))
    asked.response.end(JSON.stringify({ total: 100, data }))
  })
  const spool = await fetchSample(source)
  expect(spool.bytes).toBeGreaterThan(10_000_000)
  expect(spool.segments[0]?.slices.length).toBeGreaterThan(1)
  expect(spool.widths[1]).toBe(60)
})

describe('Retry-After', () => {
  const asksToWait = (status: number, value: string) =>
    misbehavesOnce(({ response }) => response.writeHead(status, { 'retry-after': value }).end())

  test('in seconds is respected', async () => {
    const clock = new PatientClock()
    const source = await loopbackSource(asksToWait(429, '30'))
    expect(textOf(await fetchSample(source, {}, clock))).toBe(spoolText(rows))
    expect(clock.waits).toContain(30_000)
  })

  test('as a date is respected', async () => {
    const clock = new PatientClock()
    const date = new Date(clock.now() + 45_000).toUTCString()
    const source = await loopbackSource(asksToWait(503, date))
    await fetchSample(source, {}, clock)
    expect(clock.waits).toContain(45_000)
  })

  test('is capped', async () => {
    const clock = new PatientClock()
    const source = await loopbackSource(asksToWait(429, '86400'))
    await fetchSample(source, { maxRetryAfterMs: 20_000 }, clock)
    expect(clock.waits).toContain(20_000)
  })
})

test.each([401, 403, 404, 410])('status %i is final', async (status) => {
  let asked = 0
  const source = await loopbackSource(({ response }) => {
    asked++
    response.writeHead(status).end()
  })
  await expect(fetchSample(source)).rejects.toMatchObject({ kind: ERRORS.SOURCE_STATUS, retryable: false })
  expect(asked).toBe(1)
})

test('a source that stays down is told as such', async () => {
  const source = await loopbackSource(({ response }) => response.destroy())
  await expect(fetchSample(source)).rejects.toMatchObject({
    kind: ERRORS.SOURCE_UNREACHABLE,
    message: expect.stringMatching(/^page 0 could not be fetched: .*\(asked 6 times in this attempt\)$/),
  })
})
