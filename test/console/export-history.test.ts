import { expect, test } from 'vitest'
import type { ExportHistoryItem } from '../../console/src/api/exports.ts'
import { historyEntries } from '../../console/src/pages/exports/detail/history-entries.ts'

let seq = 0
const event = (second: number, type: string, more: Partial<ExportHistoryItem> = {}): ExportHistoryItem => ({
  seq: ++seq,
  type: `export.${type}`,
  at: new Date(second * 1_000).toISOString(),
  ...more,
})
const away = { what: 'source', code: 'SOURCE_STATUS', message: 'the source answered 500' } as const
const short = (events: ExportHistoryItem[]) => historyEntries(events).map(({ what, ms }) => [what, ms])

test('a stage has its begin and its length, however often it told of its progress', () => {
  const stage = (second: number, stage: 'fetching' | 'building', fetched: number) =>
    event(second, 'progress', { stage, progress: { fetched, total: 10 } })
  const entries = historyEntries([
    event(0, 'pending'),
    event(2, 'processing', { stage: 'fetching' }),
    stage(3, 'fetching', 5),
    stage(4, 'fetching', 10),
    stage(9, 'building', 10),
    event(10, 'succeeded'),
    event(11, 'notified', { delivered: false }),
  ])
  expect(entries.map(({ what, ms }) => [what, ms])).toEqual([
    ['requested', 2_000],
    ['fetching', 7_000],
    ['building', 1_000],
    ['succeeded', undefined],
    ['untold', undefined],
  ])
  expect(entries[1]?.progress).toEqual({ fetched: 10, total: 10 })
})

test('an attempt that failed has its error and what it waits for', () => {
  const entries = historyEntries([
    event(0, 'pending'),
    event(0, 'processing'),
    event(5, 'pending', { waiting_for: away }),
    event(7, 'processing'),
    event(8, 'failed', { error: { code: 'SOURCE_STATUS', message: 'still 500' } }),
  ])
  expect(entries.map(({ what }) => what)).toEqual(['requested', 'fetching', 'waits', 'fetching', 'failed'])
  expect(entries[2]).toMatchObject({ ms: 2_000, waitsFor: 'source', failure: { message: away.message } })
  expect(entries[4]?.failure?.message).toBe('still 500')
})

test('trouble with the source is a part of the stage in which it was', () => {
  const [, fetching] = historyEntries([
    event(0, 'pending'),
    event(1, 'processing'),
    event(3, 'progress', {
      stage: 'fetching',
      waiting_for: { ...away, since: new Date(2_000).toISOString() },
    }),
    event(5, 'progress', { stage: 'fetching', waiting_for: away }),
    event(6, 'progress', { stage: 'fetching' }),
  ])
  expect(fetching).toMatchObject({
    what: 'fetching',
    ms: null,
    troubles: [{ ms: 4_000, code: 'SOURCE_STATUS' }],
  })
})

test('a worker that died and a person who tries again are told apart', () => {
  expect(
    short([event(0, 'pending'), event(1, 'processing'), event(3, 'pending'), event(4, 'processing')]),
  ).toEqual([
    ['requested', 1_000],
    ['fetching', 2_000],
    ['interrupted', 1_000],
    ['fetching', null],
  ])
  expect(short([event(0, 'pending'), event(1, 'cancelled'), event(9, 'pending')])).toEqual([
    ['requested', 1_000],
    ['cancelled', undefined],
    ['again', null],
  ])
})
