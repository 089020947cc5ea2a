import { sql } from 'kysely'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { type Ledger, migrate } from '../../src/ledger/index.ts'
import { readMigrations, scriptFor } from '../../src/ledger/migrate.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { availableBackends, openBackend, silentLog } from '../support/backends.ts'
import { createDatabase } from '../support/databases.ts'

async function versions(ledger: Ledger): Promise<number[]> {
  const { rows } = await sql<{
    version: number
  }>`select version from schema_versions order by version`.execute(ledger.db)
  return rows.map(({ version }) => version)
}

describe.each(availableBackends())('migrations on %s', (name) => {
  async function setup() {
    const backend = await openBackend(name)
    const ledger = await backend.openLedger()
    onTestFinished(async () => {
      await ledger.close()
      await backend.remove()
    })
    return ledger
  }
  const known = readMigrations()
  const extra = (text: string) => ({ version: 9001, name: 'extra', sql: text })

  test('applied migrations are not applied again', async () => {
    const ledger = await setup()
    await migrate(ledger)
    await migrate(ledger)
    expect(await versions(ledger)).toEqual(known.map(({ version }) => version))
  })

  test('a newer migration is applied on top, once', async () => {
    const ledger = await setup()
    const more = [...known, extra('create table extra (id integer);\ninsert into extra values (1);')]
    await migrate(ledger, more)
    await migrate(ledger, more)
    const { rows } = await sql<{ id: number }>`select id from extra`.execute(ledger.db)
    expect(rows.map((row) => ({ ...row }))).toEqual([{ id: 1 }])
  })

  test('a ledger of a newer Wharf is refused with both versions named', async () => {
    const ledger = await setup()
    await migrate(ledger, [...known, extra('create table extra (id integer);')])
    await expect(migrate(ledger)).rejects.toMatchObject({
      code: 'SCHEMA_TOO_NEW',
      message: expect.stringMatching(new RegExp(`9001.*${known.at(-1)?.version}`)),
    })
  })

  test('a migration that fails half-way leaves nothing of itself', async () => {
    const ledger = await setup()
    const broken = [...known, extra('create table extra (id integer);\ninsert into nowhere values (1);')]
    await expect(migrate(ledger, broken)).rejects.toThrow(/nowhere/)
    await expect(sql`select * from extra`.execute(ledger.db)).rejects.toThrow(/extra/)
    expect(await versions(ledger)).toEqual(known.map(({ version }) => version))
    await migrate(ledger, [...known, extra('create table extra (id integer);')])
    expect(await versions(ledger)).toContain(9001)
  })
})

describe.runIf(inject('postgresUrl'))('migrations of many instances at once', () => {
  test('ten instances that start on an empty database all find it ready', async () => {
    const database = await createDatabase()
    const ledgers = await Promise.all(
      Array.from({ length: 10 }, () => openPostgresLedger(database.url, silentLog, { connections: 2 })),
    )
    onTestFinished(async () => {
      await Promise.all(ledgers.map((ledger) => ledger.close()))
      await database.drop()
    })
    await Promise.all(ledgers.map((ledger) => migrate(ledger)))
    for (const ledger of ledgers) expect(await ledger.ping()).toBe(true)
    expect(await versions(ledgers[0] as Ledger)).toEqual(readMigrations().map(({ version }) => version))
  })

  test('a start that meets the locks of instances at work in another order tries again', async () => {
    const database = await createDatabase()
    const ledger = await openPostgresLedger(database.url, silentLog, { connections: 2 })
    onTestFinished(async () => {
      await ledger.close()
      await database.drop()
    })
    await migrate(ledger)
    // A sequence goes on though its transaction is rolled back.
    await sql`create sequence tries`.execute(ledger.db)
    const deadlock = `do $$ begin if nextval('tries') < 3 then raise exception 'deadlock detected' using errcode = '40P01'; end if; end $$;`
    await migrate(ledger, [...readMigrations(), { version: 9001, name: 'extra', sql: deadlock }])
    expect(await versions(ledger)).toContain(9001)
  })

  test('without Redis a second instance refuses to start, until the first has gone', async () => {
    const database = await createDatabase()
    onTestFinished(() => database.drop())
    const open = () => openPostgresLedger(database.url, silentLog, { connections: 2, onlyInstance: true })
    const first = await open()
    await expect(open()).rejects.toMatchObject({
      code: 'SINGLE_INSTANCE',
      message: expect.stringContaining('REDIS_URL'),
    })
    await first.close()
    const second = await open()
    await migrate(second)
    expect(await second.ping()).toBe(true)
    await second.close()
  })
})

describe('migration files', () => {
  test('are numbered without a gap, and in order', () => {
    const found = readMigrations().map(({ version }) => version)
    expect(found).toEqual(found.map((_, index) => index + 1))
  })

  test('give each dialect its own lines, and both the rest', () => {
    const text = [
      '-- a comment; with a semicolon',
      '--@postgres',
      'create function f() returns text language sql as',
      "  $$ select 'a; b' $$;",
      '--@all',
      'create table t (',
      '--@postgres',
      '  id bigserial primary key,',
      '--@sqlite',
      '  id integer primary key,',
      '--@all',
      '  name text',
      ');  ',
      "insert into t (name) values ('x;y');",
      'create index i on t (name)',
    ].join('\n')
    const rest = "insert into t (name) values ('x;y');\ncreate index i on t (name)"
    expect(scriptFor(text, 'sqlite')).toBe(
      `-- a comment; with a semicolon\ncreate table t (\n  id integer primary key,\n  name text\n);  \n${rest}`,
    )
    expect(scriptFor(text, 'postgres')).toBe(
      `-- a comment; with a semicolon\ncreate function f() returns text language sql as\n  $$ select 'a; b' $$;\ncreate table t (\n  id bigserial primary key,\n  name text\n);  \n${rest}`,
    )
  })
})
