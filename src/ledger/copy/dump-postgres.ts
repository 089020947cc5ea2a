import { type Kysely, sql } from 'kysely'
import { allowTime } from '../allow-time.ts'
import type { Ledger } from '../ledger.ts'
import type { Schema } from '../schema.ts'
import { isCopied, type LedgerCopy, type Row } from './ledger-copy.ts'

const ROWS_PER_FETCH = 1_000
const LIMIT_MS = 24 * 3_600_000

/** Reads the ledger as it is at one moment, in one transaction that locks nothing. */
export function dumpPostgres<T>(ledger: Ledger, use: (copy: LedgerCopy) => Promise<T>): Promise<T> {
  return ledger.snapshot(async (db) => {
    await allowTime(db, LIMIT_MS)
    const { rows } = await sql<{
      schema: number
    }>`select max(version) as schema from schema_versions`.execute(db)
    return use({
      schema: Number(rows[0]?.schema),
      tables: (await tablesOf(db)).filter(isCopied),
      rows: (table) => rowsOf(db, table),
    })
  })
}

/** The tables of Wharf that are there. */
async function tablesOf(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select tablename as name from pg_tables
    where schemaname = current_schema() order by tablename`.execute(db)
  return rows.map(({ name }) => name)
}

async function* rowsOf(db: Kysely<Schema>, table: string): AsyncGenerator<Row> {
  const byAge = table === 'events' ? sql`order by id` : sql``
  await sql`declare copied no scroll cursor for select * from ${sql.table(table)} ${byAge}`.execute(db)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(ROWS_PER_FETCH)} from copied`.execute(db)
    yield* rows
    if (rows.length < ROWS_PER_FETCH) break
  }
  await sql`close copied`.execute(db)
}
