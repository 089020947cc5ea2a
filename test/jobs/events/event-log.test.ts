import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Emitter, EventLog } from '../../../src/jobs/events/index.ts'
import type { Event } from '../../../src/jobs/index.ts'
import type { Ledger, Tx } from '../../../src/ledger/index.ts'
import { availableBackends, openBackend } from '../../support/backends.ts'
import { gate } from '../../support/engines.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const backends = availableBackends()

async function setup(name: (typeof backends)[number]) {
  const backend = await openBackend(name)
  const clock = new ManualClock()
  const ledgers: Ledger[] = []
  const open = async () => {
    // A data dir has one process, hence one ledger; PostgreSQL is read and written through several.
    const ledger = backend.shared ? undefined : ledgers[0]
    const opened = ledger ?? (await backend.openLedger(clock))
    if (!ledger) ledgers.push(opened)
    return { ledger: opened, log: new EventLog(opened) }
  }
  onTestFinished(async () => {
    for (const ledger of ledgers) await ledger.close()
    await backend.remove()
  })
  return { backend, clock, open, ...(await open()) }
}

/** Nobody is notified: these tests read by themselves. */
const silent = new Emitter({ dialect: 'sqlite' }, () => undefined)

const event = (type: string, taskId: string | null = null) => ({
  type,
  kind: 'test',
  projectId: null,
  taskId,
  jobId: null,
  data: {},
})

/** SQLite answers within the same turn of the event loop: whoever loops must let others have theirs. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

const seqs = (events: Event[]) => events.map(({ seq }) => seq)
const dense = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe.each(backends)('the event log on %s', (name) => {
  test('events are numbered without a gap, rolled back ones leaving none', async () => {
    const { ledger, log } = await setup(name)
    for (let index = 0; index < 20; index++) {
      await ledger
        .transaction(async (tx) => {
          await silent.emit(tx, event(`e${index}`))
          if (index % 3 === 0) throw new Error('no')
        })
        .catch(() => undefined)
      if (index % 4 === 0) await log.read(0)
    }
    const events = await log.read(0)
    expect(seqs(events)).toEqual(dense(13))
    expect(events.map(({ type }) => type)).toEqual(
      Array.from({ length: 20 }, (_, index) => `e${index}`).filter((_, index) => index % 3 !== 0),
    )
  })

  test('readers page through by the last number they saw, and filter without losing count', async () => {
    const { ledger, log } = await setup(name)
    await ledger.transaction(async (tx) => {
      for (let index = 0; index < 10; index++)
        await silent.emit(tx, event(`e${index}`, index % 2 ? 'odd' : 'even'))
    })
    expect(seqs(await log.read(0, {}, 4))).toEqual([1, 2, 3, 4])
    expect(seqs(await log.read(4, {}, 4))).toEqual([5, 6, 7, 8])
    expect(seqs(await log.read(8, {}, 4))).toEqual([9, 10])
    expect(await log.read(10)).toEqual([])
    expect(seqs(await log.read(3, { taskId: 'odd' }))).toEqual([4, 6, 8, 10])
    expect(await log.last()).toBe(10)
  })

  test('under many writers and many readers at once nobody sees a gap, a repeat or a change of order', async () => {
    const { ledger, open } = await setup(name)
    const others = [await open(), await open()]
    const log = new EventLog(ledger)
    const total = 240
    const writing = Promise.all(
      Array.from({ length: total }, (_, index) => {
        const { ledger: own } = others[index % 2] as (typeof others)[number]
        return own.transaction(async (tx) => {
          await silent.emit(tx, event(`e${index}`))
          if (index % 5 === 0) await turn()
        })
      }),
    )
    const follow = async (reader: EventLog) => {
      const seen: Event[] = []
      while (seen.length < total) {
        seen.push(...(await reader.read(seen.at(-1)?.seq ?? 0, {}, 50)))
        await turn()
      }
      return seen
    }
    const readers = await Promise.all([follow(log), ...others.map((other) => follow(other.log))])
    await writing
    const [first] = readers as [Event[], ...Event[][]]
    expect(seqs(first)).toEqual(dense(total))
    for (const seen of readers) expect(seen).toEqual(first)
  })

  test('following from a snapshot neither repeats nor skips what the snapshot has seen', async () => {
    const { log, open } = await setup(name)
    const { ledger: writing } = await open()
    const total = 120
    // Each change raises one of a few counters and tells its new value.
    const change = (index: number) =>
      writing.transaction(async (tx) => {
        const key = `counter ${index % 4}`
        const value = await raise(tx, key)
        await silent.emit(tx, { ...event('raised'), data: { key, value } })
      })
    let left = total
    const writers = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (left > 0) {
          await change(left--)
          await turn()
        }
      }),
    )
    const snapshots: { seq: number; value: Map<string, number> }[] = []
    while (left > 0) {
      await turn()
      snapshots.push(
        await log.snapshot(async (db) => {
          const rows = await db.selectFrom('settings').select(['key', 'value']).execute()
          return new Map(rows.map(({ key, value }) => [key, Number(value)]))
        }),
      )
    }
    await writers
    expect(snapshots.length).toBeGreaterThan(0)
    const all = await log.read(0)
    expect(all).toHaveLength(total)
    for (const { seq, value } of snapshots) {
      const counters = new Map(value)
      for (const { data } of all.filter((one) => one.seq > seq)) {
        const { key, value: next } = data as { key: string; value: number }
        expect(next).toBe((counters.get(key) ?? 0) + 1)
        counters.set(key, next)
      }
      expect([...counters.values()].reduce((sum, one) => sum + one, 0)).toBe(total)
    }
  })

  test('forgetting keeps the count, so that a number is never given twice', async () => {
    const { backend, clock, ledger, log, open } = await setup(name)
    const write = (count: number) =>
      ledger.transaction(async (tx) => {
        for (let index = 0; index < count; index++) await silent.emit(tx, event('e'))
      })
    await write(10)
    if (backend.shared) await sql`update events set at = at - 1000`.execute(ledger.db)
    else clock.advance(1_000)
    expect(await log.forget(500)).toBe(9)
    expect(await log.forget(500)).toBe(0)
    expect(seqs(await log.read(0))).toEqual([10])
    await write(2)
    const { log: later } = await open()
    expect(seqs(await later.read(0))).toEqual([10, 11, 12])
    expect(await later.last()).toBe(12)
    expect(await log.forget(3_600_000)).toBe(0)
  })

  test('forgetting takes no more than it is told to at once', async () => {
    const { ledger, log } = await setup(name)
    await ledger.transaction(async (tx) => {
      for (let index = 0; index < 10; index++) await silent.emit(tx, event('e'))
    })
    expect(await log.forget(-1_000, 4)).toBe(4)
    expect(await log.forget(-1_000, 4)).toBe(4)
    expect(seqs(await log.read(0))).toEqual([9, 10])
  })
})

describe.runIf(backends.includes('postgres + redis'))('the order of commits on PostgreSQL', () => {
  test('an event written early and committed late is not skipped by a reader that has seen later ones', async () => {
    const { ledger, log } = await setup('postgres + redis')
    const written = gate()
    const commit = gate()
    const slow = ledger.transaction(async (tx) => {
      await silent.emit(tx, event('early'))
      written.open()
      await commit.passed
    })
    await written.passed
    await ledger.transaction((tx) => silent.emit(tx, event('late')))
    const before = await log.read(0)
    expect(before.map(({ type }) => type)).toEqual(['late'])
    commit.open()
    await slow
    const after = await log.read(before.at(-1)?.seq as number)
    expect(after.map(({ type }) => type)).toEqual(['early'])
    expect(seqs([...before, ...after])).toEqual([1, 2])
  })

  test('an event written before a snapshot and committed after it comes after it', async () => {
    const { ledger, log } = await setup('postgres + redis')
    const written = gate()
    const commit = gate()
    const slow = ledger.transaction(async (tx) => {
      await raise(tx, 'counter')
      await silent.emit(tx, event('raised'))
      written.open()
      await commit.passed
    })
    await written.passed
    await ledger.transaction((tx) => silent.emit(tx, event('other')))
    const { seq, value } = await log.snapshot((db) => db.selectFrom('settings').selectAll().execute())
    commit.open()
    await slow
    expect(value).toEqual([])
    expect((await log.read(seq)).map(({ type }) => type)).toEqual(['raised'])
  })

  test('a snapshot that fails lets go of everything', async () => {
    const { ledger, log } = await setup('postgres + redis')
    await expect(
      log.snapshot(async () => {
        throw new Error('the reader failed')
      }),
    ).rejects.toThrow('the reader failed')
    const { rows } = await sql<{ n: number }>`select count(*) as n from pg_locks l
      join pg_database d on d.oid = l.database where locktype = 'advisory' and datname = current_database()`.execute(
      ledger.db,
    )
    expect(Number(rows[0]?.n)).toBe(0)
    await ledger.transaction((tx) => silent.emit(tx, event('e')))
    expect(seqs(await log.read(0))).toEqual([1])
  })

  test('a reader that dies while numbering holds nobody up', async () => {
    const { backend, ledger, log } = await setup('postgres + redis')
    await ledger.transaction((tx) => silent.emit(tx, event('e')))
    const dying = new pg.Client({ connectionString: backend.env.DATABASE_URL as string })
    dying.on('error', () => undefined)
    await dying.connect()
    const { rows } = await dying.query<{ pid: number }>('select pg_backend_pid() as pid')
    await dying.query('begin; select pg_advisory_xact_lock(2003330422); update events set seq = 1')
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(ledger.db)
    expect(seqs(await log.read(0))).toEqual([1])
    await dying.end().catch(() => undefined)
  })
})

async function raise(tx: Tx, key: string): Promise<number> {
  const row = await tx.db
    .insertInto('settings')
    .values({ key, value: '1', updated_at: 0 })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({ value: sql<string>`cast(cast(settings.value as integer) + 1 as text)` }),
    )
    .returning('value')
    .executeTakeFirstOrThrow()
  return Number(row.value)
}
