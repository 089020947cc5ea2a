import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { createLog } from '../../src/kernel/index.ts'
import { migrate } from '../../src/ledger/index.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { LIMIT_MS } from './until.ts'

interface Database {
  url: string
  drop(): Promise<void>
}

/** A migrated database, and what it looked like when it was new. */
interface Lent extends Database {
  fresh: Shape
}

interface Shape {
  tables: string[]
  /** Tables that have rows. Those of a new database come from migrations, and emptying cannot bring these back. */
  filled: string[]
  functions: string
  /** Of functions, triggers and indexes: what emptying cannot bring back either. */
  names: string
  version: number
}

const VERSIONS = 'schema_versions'
const idle: Lent[] = []

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
  // Those that are left at the end of the run are known by the beginning of their names.
  const name = `${inject('databasePrefix')}${randomBytes(6).toString('hex')}`
  await runSql(admin, `create database ${name} template ${template}`)
  const url = new URL(admin)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runSql(admin, `drop database ${name} with (force)`) }
}

/**
 * A migrated database that nobody else uses. Making and migrating one is most of what a test on PostgreSQL costs, so
 * it is emptied and used again, also by other test files; one that cannot be brought back to its beginning is dropped.
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
  return { ...database, fresh: await connected(database.url, (client) => shapeOf(client)) }
}

/** Over one connection, and only what was changed: nearly every test on PostgreSQL ends with this. */
async function emptied({ url, fresh }: Lent): Promise<boolean> {
  if (fresh.filled.length > 0) return false
  try {
    return await connected(url, async (client) => {
      // Whoever is still connected was left behind by the test, with whatever locks it has.
      await client.query(
        `select pg_terminate_backend(pid, ${LIMIT_MS}) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
      )
      const { tables, filled, functions, names, version } = await shapeOf(client, fresh.tables)
      if (version !== fresh.version || names !== fresh.names) return false
      if (fresh.tables.some((table) => !tables.includes(table))) return false
      const added = tables.filter((table) => !fresh.tables.includes(table))
      const used = filled.filter((table) => !added.includes(table)).map((table) => `"${table}"`)
      await client.query(`${added.map((table) => `drop table "${table}" cascade;`).join('')}
        ${functions === fresh.functions ? '' : fresh.functions}
        ${used.length > 0 ? `truncate ${used.join()} cascade;` : ''}
        select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
        from pg_sequences where schemaname = 'public' and last_value is not null`)
      return true
    })
  } catch {
    return false
  }
}

/** The name of a migrated database that others are copied from. Whoever needs it first makes it, for all files of the run. */
async function template(): Promise<string> {
  const admin = inject('postgresUrl') as string
  const name = `${inject('databasePrefix')}template`
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

/** Names of what belongs to `known` tables only, where given. */
async function shapeOf(client: pg.Client, known?: readonly string[]): Promise<Shape> {
  const { rows } = await client.query<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = 'public' and tablename <> '${VERSIONS}'`,
  )
  const tables = rows.map(({ tablename }) => tablename)
  const found = await client.query<{ filled: string }>(
    tables
      .map((table) => `select '${table}' as filled where exists (select from "${table}")`)
      .join(' union all '),
  )
  const [row] = (
    await client.query<{ version: number; functions: string; names: string }>(
      `select (select max(version) from ${VERSIONS}) as version, (
        select string_agg(pg_get_functiondef(oid) || ';', chr(10) order by oid) from pg_proc
        where pronamespace = 'public'::regnamespace and prokind = 'f'
      ) as functions, (
        select string_agg(name, ' ' order by name collate "C") from (
          select proname::text from pg_proc where pronamespace = 'public'::regnamespace
          union all select tgname from pg_trigger where not tgisinternal
          union all select indexname from pg_indexes where schemaname = 'public' and tablename = any ($1)
        ) as named (name)
      ) as names`,
      [known ?? tables],
    )
  ).rows
  return {
    tables,
    filled: found.rows.map(({ filled }) => filled),
    // Their definitions as statements, because tests may put others in their place.
    functions: row?.functions ?? '',
    names: row?.names ?? '',
    version: row?.version ?? 0,
  }
}

export async function runSql(url: string, sql: string): Promise<void> {
  await queryRows(url, sql)
}

export async function queryRows<R extends pg.QueryResultRow>(url: string, sql: string): Promise<R[]> {
  return connected(url, async (client) => (await client.query<R>(sql)).rows)
}

async function connected<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
