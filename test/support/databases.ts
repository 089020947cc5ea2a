import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { createLog } from '../../src/kernel/index.ts'
import { migrate } from '../../src/ledger/index.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { LIMIT_MS } from './until.ts'

interface Database {
  url: string
  drop(): Promise<void>
}

/** A migrated database, and what it takes to make it look untouched again. */
interface Lent extends Database {
  tables: string[]
  functions: string
  version: number
  /** Tables that migrations have put rows into: emptying cannot bring these back. */
  seeded: string[]
}

const VERSIONS = 'schema_versions'
const idle: Lent[] = []

afterAll(async () => {
  for (const database of idle.splice(0)) await database.drop()
})

/**
 * The same address for a process that shares its time with a test: on a busy machine, or held by the test, it may say
 * nothing inside a transaction for longer than a server should.
 */
export function patient(url: string): string {
  const address = new URL(url)
  for (const limit of ['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout'])
    address.searchParams.set(limit, String(LIMIT_MS))
  return address.href
}

/** A database of its own with nothing in it, or with what the template has. */
export async function createDatabase(
  admin = inject('postgresUrl') as string,
  template = 'template1',
): Promise<Database> {
  const name = `wharf_${randomBytes(6).toString('hex')}`
  await runSql(admin, `create database ${name} template ${template}`)
  const url = new URL(admin)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runSql(admin, `drop database ${name} with (force)`) }
}

/**
 * A migrated database that nobody else uses. Making and migrating one is most of what a test on PostgreSQL costs, so
 * it is emptied and used again within a test file; one that cannot be brought back to its beginning is dropped.
 */
export async function borrowDatabase(): Promise<Database> {
  const lent = idle.pop() ?? (await migrated())
  return {
    url: lent.url,
    async drop() {
      if (await emptied(lent)) idle.push(lent)
      else await lent.drop()
    },
  }
}

async function migrated(): Promise<Lent> {
  const database = await createDatabase(undefined, await template())
  const { url } = database
  const tables = (await tablesOf(url)).filter((table) => table !== VERSIONS)
  const seeded: string[] = []
  for (const table of tables)
    if ((await queryRows(url, `select 1 from "${table}" limit 1`)).length > 0) seeded.push(table)
  return { ...database, tables, seeded, functions: await functionsOf(url), version: await versionOf(url) }
}

async function emptied({ url, tables, seeded, functions, version }: Lent): Promise<boolean> {
  if (seeded.length > 0) return false
  try {
    // Whoever is still connected was left behind by the test, with whatever locks it has.
    await runSql(
      url,
      `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const added = (await tablesOf(url)).filter((table) => table !== VERSIONS && !tables.includes(table))
    const drops = added.map((table) => `drop table "${table}" cascade;`).join('')
    const all = tables.map((table) => `"${table}"`).join()
    await runSql(url, `${drops} ${functions} truncate ${all} restart identity cascade`)
    return (await versionOf(url)) === version
  } catch {
    return false
  }
}

/** The name of a migrated database that others are copied from. Whoever needs it first makes it, for all files of the run. */
async function template(): Promise<string> {
  const admin = inject('postgresUrl') as string
  const name = inject('postgresTemplate')
  const client = new pg.Client({ connectionString: admin })
  await client.connect()
  try {
    await client.query(`select pg_advisory_lock(hashtext('${name}'))`)
    const { rowCount } = await client.query(`select 1 from pg_database where datname = '${name}'`)
    if (rowCount === 0) {
      const { url } = await createDatabase(admin)
      const ledger = await openPostgresLedger(url, createLog({ level: 'silent' }), { connections: 1 })
      await migrate(ledger)
      await ledger.close()
      await client.query(`alter database ${new URL(url).pathname.slice(1)} rename to ${name}`)
    }
    return name
  } finally {
    await client.end()
  }
}

async function versionOf(url: string): Promise<number> {
  const [row] = await queryRows<{ version: number }>(url, `select max(version) as version from ${VERSIONS}`)
  return row?.version ?? 0
}

async function tablesOf(url: string): Promise<string[]> {
  const rows = await queryRows<{ tablename: string }>(
    url,
    `select tablename from pg_tables where schemaname = 'public'`,
  )
  return rows.map(({ tablename }) => tablename)
}

/** Their definitions as statements, because tests may put others in their place. */
async function functionsOf(url: string): Promise<string> {
  const rows = await queryRows<{ text: string }>(
    url,
    `select pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'public'::regnamespace and prokind = 'f'`,
  )
  return rows.map(({ text }) => `${text};`).join('\n')
}

export async function runSql(url: string, sql: string): Promise<void> {
  await queryRows(url, sql)
}

export async function queryRows<R extends pg.QueryResultRow>(url: string, sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<R>(sql)).rows
  } finally {
    await client.end()
  }
}
