import { describe, expect, test } from 'vitest'
import type { Event } from '../../../src/engine/index.ts'
import { availableBackends } from '../../support/backends.ts'
import { fleet, type Instance } from '../../support/fleet.ts'
import { until } from '../../support/until.ts'

const say = ({ engine, ledger }: Instance, type: string, projectId: string | null = null) =>
  ledger.transaction(async (tx) => {
    await engine.events.append(tx, { type, kind: 'k', projectId, taskId: null, jobId: null, data: {} })
    tx.afterCommit(() => engine.feed.notify())
  })

/** Follows in the background until the test stops it. */
function following({ engine }: Instance, after = 0, filter = {}) {
  const stop = new AbortController()
  const seen: Event[] = []
  const ended = (async () => {
    for await (const events of engine.feed.follow(after, filter, stop.signal)) seen.push(...events)
  })()
  return {
    types: () => seen.map(({ type }) => type),
    seqs: () => seen.map(({ seq }) => seq),
    async stop() {
      stop.abort()
      await ended
    },
  }
}

describe.each(availableBackends())('the event feed on %s', (name) => {
  test('a follower gets what has happened and what happens, once each and in order', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    await say(a, 'before')
    const feed = following(a)
    await until('the past has arrived', () => feed.types().length === 1)
    for (let index = 0; index < 20; index++) await say(a, `e${index}`)
    await until('the rest has arrived', () => feed.types().length === 21)
    expect(feed.seqs()).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
    await feed.stop()
  })

  test("another instance's events reach a follower by the signal alone", async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    const b = await instance([])
    const feed = following(a)
    // All clocks stand still, so nobody polls.
    for (let index = 0; index < 5; index++) {
      await say(b, `e${index}`)
      await until('it has arrived', () => feed.types().length === index + 1)
    }
    const c = await instance([])
    await say(c, 'of one that came later')
    await until('it has arrived', () => feed.types().at(-1) === 'of one that came later')
    await feed.stop()
  })

  test('nobody is told of events while nobody follows', async () => {
    const { instance } = await fleet(name)
    const [a, b] = [await instance([]), await instance([])]
    let told = 0
    b.signal.subscribe('events', () => told++)
    await say(a, 'unheard')
    b.signal.publish('settings', { key: 'fence' })
    await new Promise<void>((resolve) => {
      const end = b.signal.subscribe('settings', () => {
        end()
        resolve()
      })
      b.signal.publish('settings', { key: 'fence' })
    })
    expect(told).toBe(0)
  })

  test('a follower whose signals are all lost still gets everything at its next look', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    const feed = following(a)
    await until('it waits', () => a.clock.sleeping >= 6)
    await a.ledger.transaction((tx) =>
      a.engine.events.append(tx, {
        type: 'silent',
        kind: 'k',
        projectId: null,
        taskId: null,
        jobId: null,
        data: {},
      }),
    )
    await until('it has looked', () => {
      a.clock.advance(5_000)
      return feed.types().length === 1
    })
    await feed.stop()
  })

  test('followers with a filter get their own events only', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    const mine = following(a, 0, { projectId: 'mine' })
    const all = following(a)
    for (let index = 0; index < 6; index++) await say(a, `e${index}`, index % 2 ? 'mine' : 'other')
    await until('all have arrived', () => all.types().length === 6 && mine.types().length === 3)
    expect(mine.seqs()).toEqual([2, 4, 6])
    await Promise.all([mine.stop(), all.stop()])
  })

  test('a follower that comes back goes on where it left', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    await say(a, 'one')
    const first = following(a)
    await until('it has arrived', () => first.types().length === 1)
    await first.stop()
    await say(a, 'two')
    const second = following(a, 1)
    await until('it has arrived', () => second.types().length === 1)
    expect(second.types()).toEqual(['two'])
    await second.stop()
  })

  test('a long backlog comes in pages, without one being lost between them', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    await a.ledger.transaction(async (tx) => {
      const rows = Array.from({ length: 1_250 }, (_, index) => ({
        type: `e${index}`,
        kind: 'k',
        project_id: null,
        task_id: null,
        job_id: null,
        data: '{}',
        at: 0,
      }))
      for (let from = 0; from < rows.length; from += 250)
        await tx.db
          .insertInto('events')
          .values(rows.slice(from, from + 250))
          .execute()
    })
    const feed = following(a)
    await until('all have arrived', () => feed.types().length >= 1_250)
    expect(feed.seqs()).toEqual(Array.from({ length: 1_250 }, (_, index) => index + 1))
    await feed.stop()
  })
})
