import { expect, test } from 'vitest'
import { EventRing } from '../../../src/jobs/events/event-ring.ts'
import type { Event } from '../../../src/jobs/index.ts'

const event = (seq: number, more: Partial<Event> = {}): Event => ({
  seq,
  type: 'e',
  kind: 'k',
  projectId: null,
  taskId: null,
  jobId: null,
  data: {},
  at: 0,
  ...more,
})
const events = (from: number, to: number, more: Partial<Event> = {}) =>
  Array.from({ length: to - from + 1 }, (_, index) => event(from + index, more))
const seqs = (page: { events: readonly Event[] } | undefined) => page?.events.map(({ seq }) => seq)

test('it keeps the newest events up to a number, and says from where on it has all of them', () => {
  const ring = new EventRing({ events: 3 })
  ring.reset(10)
  ring.append(events(11, 12))
  expect(seqs(ring.after(10, {}))).toEqual([11, 12])
  ring.append(events(13, 15))
  expect([ring.from, ring.to]).toEqual([12, 15])
  expect(ring.after(11, {})).toBeUndefined()
  expect(seqs(ring.after(12, {}))).toEqual([13, 14, 15])
  expect(seqs(ring.after(14, {}))).toEqual([15])
  expect(seqs(ring.after(15, {}))).toEqual([])
  // A reader may be ahead of the ring: it has read the ledger itself.
  expect(ring.after(20, {})).toEqual({ events: [], upTo: 20 })
})

test('it keeps no more bytes than it may, whatever the number of events', () => {
  const ring = new EventRing({ bytes: 10_000 })
  ring.reset(0)
  ring.append(events(1, 100, { data: { text: 'x'.repeat(1_000) } }))
  expect(ring.to - ring.from).toBeGreaterThan(5)
  expect(ring.to - ring.from).toBeLessThan(10)
  ring.append([event(101, { data: { text: 'x'.repeat(20_000) } })])
  expect([ring.from, ring.to]).toEqual([101, 101])
})

test('a page is bounded, ends with an event of the filter, and is shared by those who ask for the same', () => {
  const ring = new EventRing({ pageEvents: 2 })
  ring.reset(0)
  ring.append([1, 2, 3, 4, 5, 6].map((seq) => event(seq, { projectId: seq % 2 ? 'odd' : 'even' })))
  const page = ring.after(0, { projectId: 'odd' })
  expect([seqs(page), page?.upTo]).toEqual([[1, 3], 3])
  const rest = ring.after(3, { projectId: 'odd' })
  expect([seqs(rest), rest?.upTo]).toEqual([[5], 6])
  expect(ring.after(0, { projectId: 'odd' })?.events).toBe(page?.events)
  expect(seqs(ring.after(0, { projectId: 'odd', taskId: 'none' }))).toEqual([])
  const wide = new EventRing({ pageBytes: 3_000 })
  wide.reset(0)
  wide.append(events(1, 4, { data: { text: 'x'.repeat(1_000) } }))
  expect(seqs(wide.after(0, {}))).toEqual([1, 2])
  // One that is larger than a page comes alone.
  wide.append([event(5, { data: { text: 'x'.repeat(5_000) } }), event(6)])
  expect(seqs(wide.after(4, {}))).toEqual([5])
})
