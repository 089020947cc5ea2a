import { type Kysely, sql } from 'kysely'
import { allowTime } from '../allow-time.ts'
import type { Ledger } from '../ledger.ts'
import { applyMigrations, type Migration, readMigrations } from '../migrate.ts'
import type { Schema } from '../schema.ts'
import { columnsFor, inOrder, type LedgerCopy, type Row } from './ledger-copy.ts'

const ROWS_PER_INSERT = 500
const LIMIT_MS = 24 * 3_600_000

/** Puts a copy in place of whatever the ledger holds, in one transaction: all of it or nothing. */
export async function loadPostgres(
  ledger: Ledger,
  copy: LedgerCopy,
  migrations: readonly Migration[] = readMigrations(),
): Promise<void> {
  await ledger.db.transaction().execute(async (db) => {
    await allowTime(db, LIMIT_MS)
    await dropOurs(db)
    await applyMigrations(
      db,
      'postgres',
      migrations.filter(({ version }) => version <= copy.schema),
    )
    for (const table of inOrder(copy.tables, await referencesOf(db))) await loadTable(db, copy, table)
    for (const [table, key] of [
      ['events', 'id'],
      ['audit', 'seq'],
    ])
      if (copy.tables.includes(table as string)) await goOnCounting(db, table as string, key as string)
    await applyMigrations(db, 'postgres', migrations)
  })
}

/** A database may hold tables of others: only what migrations have made is dropped. */
async function dropOurs(db: Kysely<Schema>): Promise<void> {
  const text = readMigrations()
    .map((migration) => migration.sql)
    .join('\n')
  const named = (what: string) => [
    ...new Set([...text.matchAll(new RegExp(`^create ${what} (\\w+)`, 'gm'))].map(([, name]) => name)),
  ]
  const tables = [...named('table'), 'schema_versions']
  await sql.raw(`drop table if exists ${tables.join(', ')} cascade`).execute(db)
  await sql.raw(`drop function if exists ${named('function').join(', ')} cascade`).execute(db)
}

/** Triggers would append events and count files a second time. */
async function loadTable(db: Kysely<Schema>, copy: LedgerCopy, table: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = ${table}`.execute(db)
  if (rows.length === 0) throw new Error(`there is no table ${table}`)
  const known = new Set(rows.map(({ name }) => name))
  const name = sql.table(table)
  await sql`alter table ${name} disable trigger user`.execute(db)
  let batch: Row[] = []
  const flush = async () => {
    const [first] = batch
    if (!first) return
    const columns = sql.join(columnsFor(table, first, known).map((column) => sql.ref(column)))
    await sql`insert into ${name} (${columns}) overriding system value
      select ${columns} from json_populate_recordset(null::${name}, ${JSON.stringify(batch)})`.execute(db)
    batch = []
  }
  for await (const row of copy.rows(table)) if (batch.push(row) >= ROWS_PER_INSERT) await flush()
  await flush()
  await sql`alter table ${name} enable trigger user`.execute(db)
}

async function goOnCounting(db: Kysely<Schema>, table: string, key: string): Promise<void> {
  await sql`select setval(pg_get_serial_sequence(${table}, ${key}), coalesce(max(${sql.ref(key)}), 0) + 1, false)
    from ${sql.table(table)}`.execute(db)
}

async function referencesOf(db: Kysely<Schema>): Promise<Map<string, string[]>> {
  const { rows } = await sql<{
    child: string
    parent: string
  }>`select child.relname as child, parent.relname as parent
    from pg_constraint join pg_class child on child.oid = conrelid join pg_class parent on parent.oid = confrelid
    where contype = 'f' and child.relnamespace = current_schema()::regnamespace`.execute(db)
  const references = new Map<string, string[]>()
  for (const { child, parent } of rows) references.set(child, [...(references.get(child) ?? []), parent])
  return references
}
