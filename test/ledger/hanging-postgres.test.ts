import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { migrate, settle } from '../../src/ledger/index.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { longestSilence, SESSION_LIMITS } from '../../src/ledger/postgres/session-settings.ts'
import { silentLog } from '../support/backends.ts'
import { createDatabase } from '../support/databases.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'

const away = { code: 'LEDGER_UNAVAILABLE', retryAfter: expect.any(Number) }
const PATIENT_MS = 600_000
const limits = { idleInTransactionMs: PATIENT_MS, lockMs: PATIENT_MS, statementMs: 1_000, answerMs: 500 }

describe.runIf(inject('postgresUrl'))('a PostgreSQL that hangs', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = (await startPostgres({ fsync: false })) as PostgresServer
  })
  afterAll(async () => {
    server.goOn()
    await server.remove()
  })

  async function setup() {
    const database = await createDatabase(server.url)
    const ledger = await openPostgresLedger(database.url, silentLog, { limits })
    onTestFinished(async () => {
      server.goOn()
      await ledger.close()
    })
    await migrate(ledger)
    const keep = (key: string) =>
      ledger.transaction(async ({ db }) => {
        await db.insertInto('settings').values({ key, value: '', updated_at: 0 }).execute()
        if (key === 'undecided') server.hang()
      })
    return { ledger, keep }
  }

  test('is away for everyone who waits for it, and back when it goes on', async () => {
    const { ledger, keep } = await setup()
    // Some that are idle: nobody shall find out for each of them anew.
    await Promise.all(Array.from({ length: 5 }, () => sql`select pg_sleep(0.1)`.execute(ledger.db)))
    server.hang()
    const [asked, written, pinged] = await Promise.allSettled([ledger.now(), keep('other'), ledger.ping()])
    for (const waited of [asked, written])
      expect(waited).toMatchObject({ status: 'rejected', reason: { code: 'LEDGER_UNAVAILABLE' } })
    expect(pinged).toMatchObject({ value: expect.any(String) })
    server.goOn()
    await until('statements go through again', () =>
      keep('later').then(
        () => true,
        () => false,
      ),
    )
    expect(await ledger.ping()).toBe(true)
  })

  test('a commit that it does not answer is an outage; what became of it, the ledger knows', async () => {
    const { ledger, keep } = await setup()
    const error = await keep('undecided').catch((caught: unknown) => caught)
    expect(error).toMatchObject(away)
    const kept = async () => (await ledger.db.selectFrom('settings').select('key').execute()).length > 0
    const ask = () => settle(ledger, error, { isMade: kept, undo: async () => undefined })
    server.goOn()
    const outcome = await until('it can be asked', ask, (seen) => seen !== 'undecided')
    expect(await kept()).toBe(outcome === 'made')
  })

  test('maintenance and migrations have their own time', async () => {
    const { ledger } = await setup()
    await ledger.maintenance((db) => sql`select pg_sleep(2.5)`.execute(db))
    await expect(sql`select pg_sleep(2.5)`.execute(ledger.db)).rejects.toMatchObject(away)
  })

  test('this side waits a little longer than the server lets a statement take, whoever says how long', () => {
    expect(longestSilence('postgres://h/db', SESSION_LIMITS)).toBe(35_000)
    expect(longestSilence('postgres://h/db?statement_timeout=60000', SESSION_LIMITS)).toBe(65_000)
    expect(longestSilence('postgres://h/db?statement_timeout=0', SESSION_LIMITS)).toBeNull()
  })
})
