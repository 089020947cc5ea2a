import { rmSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InProcessBus } from '../../src/jobs/index.ts'
import { newId, systemClock } from '../../src/kernel/index.ts'
import { type Ledger, migrate } from '../../src/ledger/index.ts'
import { readMigrations } from '../../src/ledger/migrate.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/open-sqlite.ts'
import { hashSecret, newSecret, ProjectStore, Quotas, Sealer } from '../../src/tenancy/index.ts'
import { NO_QUOTAS } from '../../src/tenancy/quotas.ts'
import { availableBackends, silentLog } from '../support/backends.ts'
import { createDatabase } from '../support/databases.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

/** A ledger as an earlier version has left it. */
async function ledgerAt(version: number, name: string): Promise<Ledger> {
  const ledger = name === 'embedded' ? onSqlite() : await onPostgres()
  await migrateTo(ledger, version)
  return ledger
}

function onSqlite(): Ledger {
  const folder = temporaryFolder()
  const ledger = openSqliteLedger(folder, systemClock)
  onTestFinished(async () => {
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return ledger
}

async function onPostgres(): Promise<Ledger> {
  const database = await createDatabase()
  const ledger = await openPostgresLedger(database.url, silentLog, { connections: 2 })
  onTestFinished(async () => {
    await ledger.close()
    await database.drop()
  })
  return ledger
}

const migrateTo = (ledger: Ledger, version: number) =>
  migrate(
    ledger,
    readMigrations().filter((migration) => migration.version <= version),
  )

describe.each(availableBackends())('an upgrade on %s', (name) => {
  test('keeps the keys of projects: new ones, old ones in their grace, and none of deleted projects', async () => {
    const ledger = await ledgerAt(20, name)
    const sealer = new Sealer('seal')
    const keys = new Map<string, string>()
    const keyOf = (whose: string) => {
      const key = keys.get(whose) ?? newSecret(`wharf_${'0a'.repeat(16)}_`)
      keys.set(whose, key)
      return key
    }
    const at = await ledger.now()
    const ids = { plain: newId(), rotated: newId(), 'long-ago': newId(), deleted: newId() }
    const put = (name: keyof typeof ids, old: { until: number } | null, deletedAt: number | null = null) =>
      sql`insert into projects (id, name, webhook_secret, api_key_hash, api_key_old_hash, api_key_old_until, created_at, deleted_at)
        values (${ids[name]}, ${`name of ${name}`}, ${sealer.seal('whsec_x')}, ${hashSecret(keyOf(name))},
          ${old && hashSecret(keyOf(`old ${name}`))}, ${old?.until ?? null}, ${at}, ${deletedAt})`.execute(
        ledger.db,
      )
    await put('plain', null)
    await put('rotated', { until: at + 3_600_000 })
    await put('long-ago', { until: at - 1 })
    await put('deleted', { until: at + 3_600_000 }, at)
    await migrate(ledger)

    const projects = new ProjectStore({ ledger, sealer, bus: new InProcessBus() })
    const opens = async (key: string) => (await projects.authenticate(key))?.project.id
    expect(await opens(keyOf('plain'))).toBe(ids.plain)
    expect(await opens(keyOf('rotated'))).toBe(ids.rotated)
    expect(await opens(keyOf('old rotated'))).toBe(ids.rotated)
    expect(await opens(keyOf('long-ago'))).toBe(ids['long-ago'])
    expect(await opens(keyOf('old long-ago'))).toBeUndefined()
    expect(await opens(keyOf('deleted'))).toBeUndefined()
    expect(await opens(keyOf('old deleted'))).toBeUndefined()
    expect(await opens(keyOf('old plain'))).toBeUndefined()
    const holder = await projects.authenticate(keyOf('plain'))
    expect(holder?.scopes).toEqual(['all'])

    // They go on as any key: rotated, with a grace, and ended.
    const { secret } = await ledger.transaction((tx) =>
      projects.rotate(tx, ids.plain, { what: 'api_key', graceMs: 3_600_000 }),
    )
    expect([await opens(secret), await opens(keyOf('plain'))]).toEqual([ids.plain, ids.plain])
    await ledger.transaction((tx) => projects.endKey(tx, ids.plain, holder?.keyId ?? ''))
    expect([await opens(secret), await opens(keyOf('plain'))]).toEqual([ids.plain, undefined])
  })

  test('counts the files of tasks that are there towards their project, and lets go of them with the tasks', async () => {
    const ledger = await ledgerAt(22, name)
    const at = await ledger.now()
    await sql`insert into project_usage (project_id, day, rows_read, bytes_read, disk_bytes) values ('a', 1, 2, 3, 1000)`.execute(
      ledger.db,
    )
    const put = (id: string, project: string | null, size: number) =>
      sql`insert into processing_tasks (id, project_id, file_name, size, original_file_path, status, queued_at, seen_at,
          expires_at, created_at, updated_at, seen)
        values (${id}, ${project}, 'f', ${size}, '/f', 'PENDING', ${at}, ${at}, ${at + 1}, ${at}, ${at}, '1')`.execute(
        ledger.db,
      )
    await put('one', 'a', 10)
    await put('two', 'a', 5)
    await put('three', 'b', 7)
    await put('four', null, 100)
    await migrate(ledger)
    const used = async (project: string) => {
      const quotas = new Quotas({ ledger, clock: systemClock }, NO_QUOTAS)
      return (await quotas.of(project, { exportsAtOnce: 0 })).find(({ quota }) => quota === 'disk_bytes')
        ?.used
    }
    expect([await used('a'), await used('b')]).toEqual([1_015, 7])
    await ledger.db.deleteFrom('processing_tasks').execute()
    expect([await used('a'), await used('b')]).toEqual([1_000, 0])
  })
})
