import { sql } from 'kysely'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { Prepared } from '../../src/ledger/postgres/pipeline.ts'
import { silentLog } from '../support/backends.ts'
import { borrowDatabase, runSql } from '../support/databases.ts'

const TIMES = 10
const hot = { sql: 'select $1', parameters: [1] }

describe('the statements of a connection', () => {
  test('are prepared once they come often, parsed once, and made anew after a while or after an error', () => {
    let now = 0
    const prepared = new Prepared(() => now)
    const names = () => Array.from({ length: TIMES }, () => prepared.name(hot))
    const first = names()
    expect(first[0]).toEqual({ name: '', isNew: false })
    expect(first.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(first.at(-1)).toEqual({ name: first.find(({ isNew }) => isNew)?.name, isNew: false })
    expect(prepared.takeObsolete()).toEqual([])
    now += 10_000
    const second = names()
    expect(second[0]?.name).toBe('')
    expect(second.at(-1)?.name).not.toBe(first.at(-1)?.name)
    expect(prepared.takeObsolete()).toEqual([first.at(-1)?.name])
    prepared.forget()
    expect(prepared.name(hot).name).toBe('')
    expect(prepared.takeObsolete()).toEqual([second.at(-1)?.name])
  })
})

describe.runIf(inject('postgresUrl'))('prepared statements on PostgreSQL', () => {
  async function setup() {
    const database = await borrowDatabase()
    const ledger = await openPostgresLedger(database.url, silentLog, { connections: 1 })
    onTestFinished(async () => {
      await ledger.close()
      await database.drop()
    })
    const often = async (work: () => Promise<unknown>) => {
      for (let time = 0; time < TIMES; time++) await work()
    }
    const texts = async () =>
      (await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(ledger.db)).rows
    return { ledger, often, texts, url: database.url }
  }

  test('outlive a statement that fails, alone or in a transaction', async () => {
    const { ledger, often, texts } = await setup()
    const divided = (by: number) => sql<{ n: number }>`select 12 / ${by}::integer as n`.execute(ledger.db)
    await often(() => divided(3))
    expect(await texts()).toHaveLength(1)
    await expect(divided(0)).rejects.toThrow('division by zero')
    expect((await divided(4)).rows).toEqual([{ n: 3 }])
    const add = (key: string) => (tx: { db: typeof ledger.db }) =>
      tx.db.insertInto('settings').values({ key, value: '', updated_at: 0 }).execute()
    let key = 0
    await often(() => ledger.transaction((tx) => add(String(key++))(tx)))
    await expect(ledger.transaction((tx) => add('0')(tx))).rejects.toMatchObject({ code: '23505' })
    await often(() => ledger.transaction((tx) => add(String(key++))(tx)))
    expect(await ledger.db.selectFrom('settings').select('key').execute()).toHaveLength(2 * TIMES)
  })

  test('are never those that read whole rows, so that a new column hurts nobody', async () => {
    const { ledger, often, texts, url } = await setup()
    const raise = () =>
      ledger.db.updateTable('lanes').set({ policy: 'fair' }).where('name', '=', 'x').returningAll().execute()
    const read = () =>
      ledger.db.selectFrom('lanes').selectAll('lanes').where('name', '=', 'x').select('policy as p').execute()
    await runSql(url, `insert into lanes (name, policy) values ('x', 'fifo')`)
    await often(raise)
    await often(read)
    await runSql(url, 'alter table lanes add column colour text')
    expect(await raise()).toMatchObject([{ name: 'x', colour: null }])
    expect(await read()).toMatchObject([{ name: 'x', colour: null }])
    expect(await texts()).toEqual([])
  })
})
