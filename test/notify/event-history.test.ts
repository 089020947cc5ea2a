import { expect, test } from 'vitest'
import type { Engine, Event } from '../../src/jobs/index.ts'
import { eventHistory } from '../../src/notify/index.ts'

const LONG = 2_500

function engineWith(data: { type: string; stage?: string; fetched?: number }[]): Engine {
  const events = data.map(
    ({ type, ...rest }, index) => ({ seq: index + 1, type, data: rest, at: index }) as Partial<Event>,
  )
  const read = async (after: number, _filter: unknown, limit: number) =>
    events.filter(({ seq = 0 }) => seq > after).slice(0, limit)
  return { events: { read } } as unknown as Engine
}

test('the history of a long export has its end, and of each stage the first and the last progress', async () => {
  const engine = engineWith([
    { type: 'export.pending' },
    { type: 'export.processing' },
    ...Array.from({ length: LONG }, (_, n) => ({ type: 'export.progress', stage: 'fetching', fetched: n })),
    { type: 'export.progress', stage: 'building', fetched: LONG },
    { type: 'export.succeeded' },
  ])
  const history = await eventHistory(engine, { taskId: 't' }, { progress: 'stages' })
  expect(history.map(({ type, stage, fetched }) => [type, stage, fetched])).toEqual([
    ['export.pending', undefined, undefined],
    ['export.processing', undefined, undefined],
    ['export.progress', 'fetching', 0],
    ['export.progress', 'fetching', LONG - 1],
    ['export.progress', 'building', LONG],
    ['export.succeeded', undefined, undefined],
  ])
})
