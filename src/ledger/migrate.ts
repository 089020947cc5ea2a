import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import { AppError, ERRORS, systemClock } from '../kernel/index.ts'
import { allowTime } from './allow-time.ts'
import type { Ledger } from './ledger.ts'
import type { Schema } from './schema.ts'
import { script } from './statements.ts'

const MODULES = new URL('../', import.meta.url)
/** A large table may take its time; an instance that was stopped in the middle must not keep others from starting. */
const MIGRATION_LIMIT_MS = 15 * 60_000
const MIGRATION_LOCK = 0x77_68_6d_67
const DEADLOCK = '40P01'
const MOST_TRIES = 20
const PAUSE_MS = 100

export interface Migration {
  version: number
  name: string
  sql: string
}

/**
 * Numbered files, applied once each and never edited afterwards. Each module has its own in `migrations/`; the numbers are
 * those of the whole ledger.
 */
export function readMigrations(): Migration[] {
  const migrations = readdirSync(MODULES)
    .map((module) => new URL(`${module}/migrations/`, MODULES))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((file) => ({ file, url: new URL(file, folder) })))
    .filter(({ file }) => /^\d{4}-[a-z0-9-]+\.sql$/.test(file))
    .map(({ file, url }) => ({
      version: Number(file.slice(0, 4)),
      name: file.slice(5, -4),
      sql: readFileSync(url, 'utf8'),
    }))
    .sort((a, b) => a.version - b.version)
  const twice = migrations.find(({ version }, index) => version === migrations[index - 1]?.version)
  if (twice) throw new Error(`two migrations have the number ${twice.version}`)
  return migrations
}

/** The migration that this Wharf brings a ledger to. */
export function knownSchema(): number {
  return readMigrations().at(-1)?.version ?? 0
}

/**
 * Brings the schema up to date. Several instances may call it at the same moment: one does the work, the others wait
 * for it and find nothing left to do.
 */
export async function migrate(ledger: Ledger, migrations: Migration[] = readMigrations()): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await ledger.db.transaction().execute(async (db) => {
        if (ledger.dialect === 'postgres') await allowTime(db, MIGRATION_LIMIT_MS)
        await applyMigrations(db, ledger.dialect, migrations)
      })
    } catch (error) {
      // Instances of the version before are at work, and lock tables in another order. Nothing was changed.
      if ((error as { code?: string }).code !== DEADLOCK || tries === MOST_TRIES) throw error
      await systemClock.sleep(tries * PAUSE_MS)
    }
  }
}

/** The same within a transaction of the caller. */
export async function applyMigrations(
  db: Kysely<Schema>,
  dialect: Ledger['dialect'],
  migrations: readonly Migration[],
): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(db)
  const current = await currentVersion(db)
  const known = migrations.at(-1)?.version ?? 0
  if (current > known) {
    throw new AppError(
      ERRORS.SCHEMA_TOO_NEW,
      `the ledger has schema version ${current}, this Wharf knows ${known}: start the newer Wharf, or restore a backup`,
    )
  }
  for (const migration of migrations.filter(({ version }) => version > current)) {
    await db.executeQuery(script(scriptFor(migration.sql, dialect)))
    await sql`insert into schema_versions (version, name, applied_at)
      values (${migration.version}, ${migration.name}, wharf_now())`.execute(db)
  }
}

/** From this schema on, instances of the version before go on while a newer one migrates their ledger. */
const ROLLING_SINCE = 37

/** For a PostgreSQL that several instances use: throws while instances run that could not go on after `migrate`. */
export async function checkRolling(ledger: Ledger, leaseMs: number): Promise<void> {
  const { rows } = await sql<{
    found: boolean
  }>`select to_regclass('instances') is not null as found`.execute(ledger.db)
  if (rows[0]?.found !== true) return
  const current = await currentVersion(ledger.db)
  if (current >= ROLLING_SINCE) return
  const running = await ledger.db
    .selectFrom('instances')
    .select(['host', 'version'])
    .where('seen_at', '>', (await ledger.now()) - leaseMs)
    .execute()
  if (running.length === 0) return
  const names = running.map(({ host, version }) => `${version} on ${host}`).join(', ')
  throw new AppError(
    ERRORS.LEDGER_IN_USE,
    `instances of an older version run on this ledger (${names}) and could not go on after its upgrade: stop them all first; one that was killed counts for ${leaseMs / 1_000} s`,
  )
}

async function currentVersion(db: Kysely<Schema>): Promise<number> {
  await sql`create table if not exists schema_versions (
    version integer primary key, name text not null, applied_at bigint not null)`.execute(db)
  const { rows } = await sql<{
    version: number | null
  }>`select max(version) as version from schema_versions`.execute(db)
  return rows[0]?.version ?? 0
}

/** Leaves out the lines of the other dialect: those between its mark (`--@sqlite`, `--@postgres`) and the next one. */
export function scriptFor(text: string, dialect: 'sqlite' | 'postgres'): string {
  let mine = true
  return text
    .split('\n')
    .filter((line) => {
      const mark = /^--@(\w+)/.exec(line)?.[1]
      if (mark) mine = mark === 'all' || mark === dialect
      return mine && !mark
    })
    .join('\n')
}
