import { sql } from 'kysely'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { EventLog } from '../../src/jobs/events/index.ts'
import type { Ledger } from '../../src/ledger/index.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { silentLog } from '../support/backends.ts'
import { borrowDatabase, runSql } from '../support/databases.ts'
import { gate } from '../support/engines.ts'
import { until } from '../support/until.ts'

const away = { code: 'LEDGER_UNAVAILABLE', retryAfter: expect.any(Number) }
const PATIENT = { idleInTransactionMs: 600_000, lockMs: 600_000, statementMs: 600_000, answerMs: 600_000 }

describe.runIf(inject('postgresUrl'))('what a session may keep others waiting for', () => {
  async function setup() {
    const database = await borrowDatabase()
    const ledgers: Ledger[] = []
    onTestFinished(async () => {
      for (const ledger of ledgers) await ledger.close()
      await database.drop()
    })
    await runSql(database.url, `insert into settings (key, value, updated_at) values ('hot', '0', 0)`)
    return {
      url: database.url,
      async open(limits: Partial<typeof PATIENT> = {}): Promise<Ledger> {
        const ledger = await openPostgresLedger(database.url, silentLog, {
          limits: { ...PATIENT, ...limits },
        })
        ledgers.push(ledger)
        return ledger
      },
    }
  }

  const raise = (db: Ledger['db']) =>
    db
      .updateTable('settings')
      .set({ value: sql<string>`(value::integer + 1)::text` })
      .where('key', '=', 'hot')
      .execute()
  const hot = async ({ db }: Ledger) =>
    (await db.selectFrom('settings').select('value').where('key', '=', 'hot').executeTakeFirstOrThrow()).value

  test('a client that goes silent inside a transaction loses its row, and does its work again when it is back', async () => {
    const { open } = await setup()
    const stopped = await open({ idleInTransactionMs: 1_000 })
    const other = await open()
    const holds = gate()
    const goOn = gate()
    let tries = 0
    const silent = stopped.transaction(async ({ db }) => {
      await raise(db)
      if (++tries > 1) return
      holds.open()
      await goOn.passed
      await raise(db)
    })
    await holds.passed
    await raise(other.db)
    expect(await hot(other)).toBe('1')
    goOn.open()
    await silent
    // On a busy machine it may lose its row more than once, but its work counts once.
    expect(tries).toBeGreaterThan(1)
    expect(await hot(other)).toBe('2')
  })

  test('whoever waits for a lock for too long is told to come again, and holds nothing afterwards', async () => {
    const { open } = await setup()
    const holder = await open()
    const impatient = await open({ lockMs: 100 })
    const goOn = gate()
    const holds = gate()
    const held = holder.transaction(async ({ db }) => {
      await raise(db)
      holds.open()
      await goOn.passed
    })
    await holds.passed
    await expect(impatient.transaction(({ db }) => raise(db))).rejects.toMatchObject(away)
    goOn.open()
    await held
    await impatient.transaction(({ db }) => raise(db))
    expect(await hot(holder)).toBe('2')
  })

  test('a statement that takes too long is ended, but maintenance has its own time', async () => {
    const { open } = await setup()
    const ledger = await open({ statementMs: 1_000 })
    const long = sql`select pg_sleep(1.5)`
    await expect(long.execute(ledger.db)).rejects.toMatchObject(away)
    await ledger.maintenance((db) => long.execute(db))
  })

  test('a client that goes silent while it reads a snapshot keeps nobody from numbering events', async () => {
    const { open, url } = await setup()
    const stopped = await open({ idleInTransactionMs: 1_000 })
    const other = new EventLog(await open())
    const insert = `insert into events (type, kind, data, at) values ('t', 'k', '{}', 0)`
    await runSql(url, insert)
    const reads = gate()
    const goOn = gate()
    const silent = new EventLog(stopped).snapshot(async (db) => {
      reads.open()
      await goOn.passed
      return db.selectFrom('settings').selectAll().execute()
    })
    await reads.passed
    await runSql(url, insert)
    expect((await other.read(0)).map(({ seq }) => seq)).toEqual([1, 2])
    goOn.open()
    await expect(silent).rejects.toMatchObject(away)
  })

  test('a connection that is ended while it is idle is no fault of anybody, and another one takes its place', async () => {
    const { open, url } = await setup()
    const ledger = await open()
    await raise(ledger.db)
    await runSql(
      url,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await until('statements go through again', () => raise(ledger.db).catch(() => false))
    expect(await hot(ledger)).toBe('2')
  })

  test('the server is told the limits, and to look whether the client is still there', async () => {
    const { url } = await setup()
    const ledger = await openPostgresLedger(url, silentLog)
    onTestFinished(() => ledger.close())
    const { rows } = await sql<{ name: string; setting: string }>`select name, setting from pg_settings
      where name in ('idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout', 'tcp_keepalives_idle')
      order by name`.execute(ledger.db)
    expect(rows.map(({ name, setting }) => `${name} ${setting}`)).toEqual([
      'idle_in_transaction_session_timeout 3000',
      'lock_timeout 4000',
      'statement_timeout 30000',
      'tcp_keepalives_idle 10',
    ])
  })
})
