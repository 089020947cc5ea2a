import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Generated, Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { nodeSqliteDialect } from '../../src/ledger/sqlite/sqlite-driver.ts'
import { gate } from '../support/engines.ts'
import { smallDisk } from '../support/small-disk.ts'

interface Tables {
  things: { id: Generated<number>; name: string | null; size: number | null }
  children: { parent: number }
}

/** Notes what is executed directly, which is where transactions begin and end. */
class WatchedDatabase extends DatabaseSync {
  readonly log: string[] = []

  override exec(statement: string): void {
    this.log.push(statement)
    super.exec(statement)
  }

  count(statement: string): number {
    return this.log.filter((text) => text === statement).length
  }
}

function setup(folder = mkdtempSync(join(tmpdir(), 'wharf-driver-'))) {
  const file = join(folder, 'test.db')
  const writer = new WatchedDatabase(file)
  writer.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;
    create table things (id integer primary key autoincrement, name text unique, size integer);
    create table children (parent integer references things (id) deferrable initially deferred);`)
  const reader = new DatabaseSync(file)
  reader.exec('pragma query_only = on')
  const db = new Kysely<Tables>({ dialect: nodeSqliteDialect({ writer, reader }) })
  onTestFinished(async () => {
    await db.destroy()
    rmSync(folder, { recursive: true, force: true })
  })
  const names = async () =>
    (await db.selectFrom('things').select('name').orderBy('id').execute()).map((row) => row.name)
  const insert = (name: string) =>
    db.transaction().execute((tx) => tx.insertInto('things').values({ name }).execute())
  return { db, writer, reader, names, insert }
}

function outcomes(promises: Promise<unknown>[]): Promise<string[]> {
  return Promise.all(
    promises.map((promise) =>
      promise.then(
        () => 'committed',
        () => 'failed',
      ),
    ),
  )
}

test('parameters of every kind reach the table and come back', async () => {
  const { db } = setup()
  const { rows } = await sql<
    Record<string, unknown>
  >`select ${'text'} as a, ${7} as b, ${1.5} as c, ${true} as d, ${false} as e,
    ${null} as f, ${undefined} as g, ${2n} as h, ${new Uint8Array([1, 2])} as i`.execute(db)
  expect({ ...rows[0] }).toEqual({
    a: 'text',
    b: 7,
    c: 1.5,
    d: 1,
    e: 0,
    f: null,
    g: null,
    h: 2,
    i: new Uint8Array([1, 2]),
  })
})

test('text survives quotes, NUL-free binary-looking text and other scripts', async () => {
  const { db } = setup()
  const name = `O'Neil; drop table things; -- ${String.fromCharCode(0xfffd)} 下载中心 🚢`
  await db.insertInto('things').values({ name }).execute()
  expect(await db.selectFrom('things').select('name').executeTakeFirst()).toEqual({ name })
})

test('returning gives the rows, and writes tell how many rows they touched', async () => {
  const { db } = setup()
  const inserted = await db
    .insertInto('things')
    .values([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
    .returning(['id', 'name'])
    .execute()
  expect(inserted.map((row) => ({ ...row }))).toEqual([
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
    { id: 3, name: 'c' },
  ])
  const updated = await db.updateTable('things').set({ size: 1 }).where('id', '>', 1).executeTakeFirst()
  expect(updated.numUpdatedRows).toBe(2n)
  const none = await db.updateTable('things').set({ size: 1 }).where('id', '>', 99).executeTakeFirst()
  expect(none.numUpdatedRows).toBe(0n)
  const returned = await db
    .updateTable('things')
    .set({ size: 2 })
    .where('id', '=', 99)
    .returning('id')
    .execute()
  expect(returned).toEqual([])
  const deleted = await db.deleteFrom('things').where('id', '<=', 2).executeTakeFirst()
  expect(deleted.numDeletedRows).toBe(2n)
  const ignored = await db
    .insertInto('things')
    .values({ name: 'c' })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  expect(ignored).toEqual([])
})

test('a statement that fails alone leaves the database usable', async () => {
  const { db, insert, names } = setup()
  await insert('a')
  await expect(db.insertInto('things').values({ name: 'a' }).execute()).rejects.toThrow(/UNIQUE/)
  await expect(sql`insert into nowhere values (1)`.execute(db)).rejects.toThrow(/no such table/)
  await insert('b')
  expect(await names()).toEqual(['a', 'b'])
})

test('more distinct statements than are kept prepared still work', async () => {
  const { db } = setup()
  for (let count = 0; count < 1_100; count++) {
    const { rows } = await sql<{ n: number }>`select ${sql.raw(String(count))} as n`.execute(db)
    expect(rows[0]?.n).toBe(count)
  }
  const { rows } = await sql<{ n: number }>`select 0 as n`.execute(db)
  expect(rows[0]?.n).toBe(0)
})

test('concurrent transactions run one after the other: none loses an update', async () => {
  const { db } = setup()
  await db.insertInto('things').values({ name: 'counter', size: 0 }).execute()
  const add = () =>
    db.transaction().execute(async (tx) => {
      const { size } = await tx.selectFrom('things').select('size').executeTakeFirstOrThrow()
      await new Promise((resolve) => setImmediate(resolve))
      await tx
        .updateTable('things')
        .set({ size: (size ?? 0) + 1 })
        .execute()
    })
  await Promise.all(Array.from({ length: 100 }, add))
  expect(await db.selectFrom('things').select('size').executeTakeFirst()).toEqual({ size: 100 })
})

test('transactions that wait for one another share a commit', async () => {
  const { writer, insert, names } = setup()
  const before = writer.count('commit')
  await Promise.all(Array.from({ length: 640 }, (_, index) => insert(String(index))))
  const commits = writer.count('commit') - before
  expect(commits).toBeGreaterThanOrEqual(10)
  expect(commits).toBeLessThanOrEqual(20)
  expect(await names()).toHaveLength(640)
})

test('a transaction that stands alone is committed when it ends', async () => {
  const { writer, insert } = setup()
  const before = writer.count('commit')
  await insert('a')
  await insert('b')
  expect(writer.count('commit') - before).toBe(2)
})

test('a member that rolls back takes nobody along', async () => {
  const { db, names, insert } = setup()
  const failing = () =>
    db.transaction().execute(async (tx) => {
      await tx.insertInto('things').values({ name: 'never' }).execute()
      throw new Error('changed its mind')
    })
  const duplicate = () =>
    db.transaction().execute((tx) => tx.insertInto('things').values({ name: 'a' }).execute())
  const all = [insert('a'), failing(), insert('b'), duplicate(), failing(), insert('c'), failing()]
  expect(await outcomes(all)).toEqual([
    'committed',
    'failed',
    'committed',
    'failed',
    'failed',
    'committed',
    'failed',
  ])
  expect(await names()).toEqual(['a', 'b', 'c'])
})

test('a reader never sees what is not committed, neither of one nor of a group', async () => {
  const { db, names, insert } = setup()
  await insert('old')
  const written = gate()
  const proceed = gate()
  const first = db.transaction().execute(async (tx) => {
    await tx.insertInto('things').values({ name: 'first' }).execute()
    written.open()
    await proceed.passed
    return (await tx.selectFrom('things').select('name').execute()).length
  })
  await written.passed
  const second = insert('second')
  expect(await names()).toEqual(['old'])
  proceed.open()
  expect(await first).toBe(2)
  await second
  expect(await names()).toEqual(['old', 'first', 'second'])
})

test('a member is answered only when its data is on disk', async () => {
  const { names, insert } = setup()
  const answered = Array.from({ length: 20 }, async (_, index) => {
    await insert(String(index))
    return (await names()).includes(String(index))
  })
  expect(await Promise.all(answered)).toEqual(Array(20).fill(true))
})

test('a commit that fails fails every member of its group, and those that come after it go through', async () => {
  const { db, names, insert } = setup()
  await insert('before')
  const orphan = db.transaction().execute((tx) => tx.insertInto('children').values({ parent: 999 }).execute())
  const group = [insert('a'), orphan, insert('b')]
  // Begun by whoever hears of a failure: they must not be caught up in the clearing away of the failed group.
  const next = group.map((member, index) => member.catch(() => insert(`next-${index}`)))
  expect(await outcomes(group)).toEqual(['failed', 'failed', 'failed'])
  expect(await outcomes(next)).toEqual(['committed', 'committed', 'committed'])
  expect((await names()).toSorted()).toEqual(['before', 'next-0', 'next-1', 'next-2'])
})

test('a failed commit in the middle of a queue harms neither the groups before nor after it', async () => {
  const { db, names, insert } = setup()
  const work = Array.from({ length: 200 }, (_, index) =>
    index === 100
      ? db.transaction().execute((tx) => tx.insertInto('children').values({ parent: 999 }).execute())
      : insert(String(index)),
  )
  const results = await outcomes(work)
  const kept = await names()
  const told = results.flatMap((result, index) => (result === 'committed' ? [String(index)] : []))
  expect(kept).toEqual(told)
  expect(results[100]).toBe('failed')
  expect(told.length).toBeGreaterThanOrEqual(200 - 64)
  await insert('after')
  expect(await names()).toContain('after')
})

test('a full database fails the write, keeps what was committed, and takes writes again when there is room', async () => {
  const { db, writer, names, insert } = setup()
  await insert('kept')
  const { page_count } = writer.prepare('pragma page_count').get() as { page_count: number }
  writer.exec(`pragma max_page_count = ${page_count + 2}`)
  const big = (name: string) =>
    db.transaction().execute(async (tx) => {
      await tx
        .insertInto('things')
        .values({ name: name + 'x'.repeat(100_000) })
        .execute()
    })
  const results = await outcomes([big('one'), insert('small'), big('two')])
  expect(results[0]).toBe('failed')
  expect(results[2]).toBe('failed')
  expect(await names()).toEqual(results[1] === 'committed' ? ['kept', 'small'] : ['kept'])
  writer.exec('pragma max_page_count = 1000000')
  await big('three')
  expect(await names()).toHaveLength(results[1] === 'committed' ? 3 : 2)
})

test('a transaction that SQLite has rolled back by itself can write nothing more, even if it ignores the error', async () => {
  const { db, writer, names, insert } = setup()
  const before = insert('before')
  const stubborn = db.transaction().execute(async (tx) => {
    await tx.insertInto('things').values({ name: 'lost' }).execute()
    // What an I/O error does to the physical transaction.
    writer.exec('rollback')
    await tx.insertInto('things').values({ name: 'outside of any transaction' }).execute()
  })
  const after = insert('after')
  // 'before' shares the physical transaction that is gone, unless it was already committed on its own.
  const [first, second, third] = await outcomes([before, stubborn, after])
  expect(second).toBe('failed')
  expect(third).toBe('committed')
  expect(await names()).toEqual(first === 'committed' ? ['before', 'after'] : ['after'])
})

test('a transaction that ends after SQLite has rolled it back fails, and its whole group with it', async () => {
  const { db, writer, names, insert } = setup()
  const others = [insert('a'), insert('b')]
  const unaware = db.transaction().execute(async () => {
    writer.exec('rollback')
  })
  expect(await outcomes([...others, unaware, insert('c')])).toEqual([
    'failed',
    'failed',
    'failed',
    'committed',
  ])
  expect(await names()).toEqual(['c'])
})

test('a disk that runs full fails what cannot be kept, and nothing half is visible', async ({ skip }) => {
  const folder = smallDisk(2)
  if (!folder) return skip('needs the right to mount a small tmpfs')
  const { db, names, insert } = setup(folder)
  await insert('kept')
  const big = (index: number) =>
    db.transaction().execute(async (tx) => {
      await tx
        .insertInto('things')
        .values({ name: `head ${index}` })
        .execute()
      await tx
        .insertInto('things')
        .values({ name: `${index}`.padEnd(200_000, 'x') })
        .execute()
    })
  const results: string[] = []
  for (let round = 0; round < 10; round++)
    results.push(...(await outcomes([big(round * 2), big(round * 2 + 1)])))
  expect(results).toContain('failed')
  const kept = await names()
  const heads = kept.filter((name) => name?.startsWith('head')).length
  expect(kept.length).toBe(1 + 2 * heads)
  expect(heads).toBe(results.filter((result) => result === 'committed').length)
})
