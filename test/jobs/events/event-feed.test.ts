import { describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import type { RingLimits } from '../../../src/jobs/events/event-ring.ts'
import { Emitter, EventFeed, EventLog } from '../../../src/jobs/events/index.ts'
import type { Event } from '../../../src/jobs/index.ts'
import { availableBackends, silentLog } from '../../support/backends.ts'
import { fleet, type Instance } from '../../support/fleet.ts'
import { until } from '../../support/until.ts'

const say = ({ engine, ledger }: Instance, type: string, projectId: string | null = null) =>
  ledger.transaction((tx) =>
    engine.emit(tx, { type, kind: 'k', projectId, taskId: null, jobId: null, data: {} }),
  )

/** Follows in the background until the test stops it. */
function following({ engine: { feed } }: { engine: { feed: EventFeed } }, after = 0, filter = {}) {
  const stop = new AbortController()
  const seen: Event[] = []
  let hold: Promise<void> | undefined
  const ended = (async () => {
    for await (const events of feed.follow(after, filter, stop.signal)) {
      seen.push(...events)
      await hold
    }
  })()
  return {
    /** It takes no page after the next one until the returned function is called. */
    hold() {
      const held = Promise.withResolvers<void>()
      hold = held.promise
      return held.resolve
    },
    types: () => seen.map(({ type }) => type),
    seqs: () => seen.map(({ seq }) => seq),
    async stop() {
      stop.abort()
      await ended
    },
  }
}

/** A feed of the instance's ledger besides the engine's own, whose queries are counted. */
function countedFeed({ ledger, bus, clock }: Instance, limits: RingLimits = {}) {
  const events = new EventLog(ledger, ledger.readers)
  const read = vi.spyOn(events, 'read')
  const feed = new EventFeed({ events, bus, clock, log: silentLog }, limits)
  onTestFinished(() => feed.close())
  return { engine: { feed }, queries: () => read.mock.calls.length }
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe.each(availableBackends())('the event feed on %s', (name) => {
  test('an event costs one query, however many follow', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    const counted = countedFeed(a)
    const feeds = Array.from({ length: 200 }, () => following(counted))
    await say(a, 'first')
    await until('all have the first', () => {
      a.clock.advance(1_000)
      return feeds.every((feed) => feed.types().length === 1)
    })
    const before = counted.queries()
    for (let index = 0; index < 10; index++) await say(a, `e${index}`)
    await until('all have all', () => {
      a.clock.advance(1_000)
      return feeds.every((feed) => feed.types().length === 11)
    })
    // One per event at most, and a few polls while the clock was moved.
    expect(counted.queries() - before).toBeLessThan(60)
    for (const feed of feeds) expect(feed.seqs()).toEqual(upTo(11))
    await Promise.all(feeds.map((feed) => feed.stop()))
  })

  test('readers that take long make the pauses longer, not the work slower', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    const counted = countedFeed(a)
    const stop = new AbortController()
    let arrived = 0
    const feeds = Array.from({ length: 40 }, async () => {
      for await (const _ of counted.engine.feed.follow(0, {}, stop.signal)) {
        arrived++
        for (const start = performance.now(); performance.now() - start < 1; );
      }
    })
    await until('all follow', () => counted.queries() > 0)
    const sleep = vi.spyOn(a.clock, 'sleep')
    await say(a, 'one')
    await until('all have it', () => arrived === 40)
    await until('it pauses', () => sleep.mock.calls.some(([ms]) => ms >= 40 * 15 * 0.9 && ms <= 1_500))
    stop.abort()
    a.clock.advance(2_000)
    await Promise.all(feeds)
  })

  test('a thousand that come back at the same place share their queries', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    for (let index = 0; index < 10; index++) await say(a, `e${index}`)
    const counted = countedFeed(a)
    const feeds = Array.from({ length: 1_000 }, () => following(counted))
    await until('all have all', () => feeds.every((feed) => feed.types().length === 10))
    expect(counted.queries()).toBeLessThan(10)
    await Promise.all(feeds.map((feed) => feed.stop()))
  })

  test('a follower that falls out of the ring goes on from the ledger, without a gap', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    const counted = countedFeed(a, { events: 5, pageEvents: 2 })
    for (let index = 0; index < 12; index++) await say(a, `old${index}`)
    const [slow, quick, mine] = [
      following(counted),
      following(counted),
      following(counted, 0, { projectId: 'mine' }),
    ]
    await until('the past has arrived', () => slow.types().length === 12 && quick.types().length === 12)
    const release = slow.hold()
    const releaseMine = mine.hold()
    await say(a, 'the last one that they take', 'mine')
    await until('it has arrived', () => slow.types().length === 13 && mine.types().length === 1)
    for (let index = 0; index < 30; index++) await say(a, `new${index}`, index % 3 ? 'mine' : 'other')
    await until('the quick one has all', () => quick.types().length === 43)
    expect(slow.types().length).toBe(13)
    release()
    releaseMine()
    await until('the slow ones have all', () => slow.types().length === 43 && mine.types().length === 21)
    expect(slow.seqs()).toEqual(upTo(43))
    expect(mine.seqs()).toEqual([13, ...upTo(43).filter((seq) => seq > 13 && (seq - 14) % 3)])
    await Promise.all([slow.stop(), quick.stop(), mine.stop()])
  })

  test('one that is ahead of the log is told to resync, and goes on from there', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    await say(a, 'one')
    await say(a, 'two')
    const feed = following(a, 1_000)
    await until('it was told', () => feed.types().length === 1)
    await say(a, 'three')
    await until('it has arrived', () => feed.types().length === 2)
    expect([feed.types(), feed.seqs()]).toEqual([
      ['resync', 'three'],
      [2, 3],
    ])
    await feed.stop()
  })

  test('a log that is put back while it is followed makes all followers resync', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    const feeds = [following(a), following(a, 0, { projectId: 'mine' })]
    for (let index = 0; index < 3; index++) await say(a, `e${index}`, 'mine')
    await until('all have arrived', () => feeds.every((feed) => feed.types().length === 3))
    await a.ledger.db.deleteFrom('events').where('seq', '>', 1).execute()
    await until('they were told', () => {
      a.clock.advance(5_000)
      return feeds.every((feed) => feed.types().at(-1) === 'resync')
    })
    for (const feed of feeds) {
      expect(feed.seqs()).toEqual([1, 2, 3, 1])
      await feed.stop()
    }
  })

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
    b.bus.subscribe('events', () => told++)
    await say(a, 'unheard')
    b.bus.publish('settings', { key: 'fence' })
    await new Promise<void>((resolve) => {
      const end = b.bus.subscribe('settings', () => {
        end()
        resolve()
      })
      b.bus.publish('settings', { key: 'fence' })
    })
    expect(told).toBe(0)
  })

  test('a follower whose signals are all lost still gets everything at its next look', async () => {
    const { instance } = await fleet(name)
    const a = await instance([])
    const feed = following(a)
    await until('it waits', () => a.clock.sleeping >= 6)
    await a.ledger.transaction((tx) =>
      new Emitter(a.ledger, () => undefined).emit(tx, {
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

test.runIf(inject('postgresUrl') && inject('redisUrl'))(
  'followers take no connection of the work, and do not wait when it has none left',
  async () => {
    const { instance } = await fleet('postgres + redis')
    const [a, b] = [await instance([]), await instance([])]
    const done = Promise.withResolvers<void>()
    const held = new Set<number>()
    const busy = Array.from({ length: 10 }, (_, index) =>
      a.ledger.db.connection().execute(async () => {
        held.add(index)
        await done.promise
      }),
    )
    await until('no connection is left', () => held.size === 10)
    const feeds = Array.from({ length: 10 }, () => following(a))
    await say(b, 'while all are busy')
    await until('all have it', () => feeds.every((feed) => feed.types().length === 1))
    done.resolve()
    await Promise.all([...busy, ...feeds.map((feed) => feed.stop())])
  },
)
