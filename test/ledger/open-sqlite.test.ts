import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { migrate } from '../../src/ledger/index.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/open-sqlite.ts'
import { end, spawnBound } from '../support/bound-process.ts'
import { ManualClock } from '../support/manual-clock.ts'

const HOLDER = new URL('../support/hold-data-dir.ts', import.meta.url).pathname

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    /** Another process tries to open the same data dir. */
    async other(): Promise<{ child: ChildProcess; said: string }> {
      const child = spawnBound(process.execPath, [HOLDER, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
      onTestFinished(() => end(child, 'SIGKILL'))
      const [said] = (await once(
        createInterface({ input: child.stdout as NodeJS.ReadableStream }),
        'line',
      )) as [string]
      return { child, said }
    },
  }
}

test('a second process on the same data dir is refused, and may come once the first has gone', async () => {
  const { folder, other } = setup()
  const ledger = openSqliteLedger(folder, systemClock)
  expect((await other()).said).toBe('DATA_DIR_LOCKED')
  await ledger.close()
  expect((await other()).said).toBe('open')
})

test('a process that was killed leaves no lock behind', async () => {
  const { folder, other } = setup()
  const { child, said } = await other()
  expect(said).toBe('open')
  expect(() => openSqliteLedger(folder, systemClock)).toThrowError(
    expect.objectContaining({ code: 'DATA_DIR_LOCKED', message: expect.stringContaining(folder) }),
  )
  await end(child, 'SIGKILL')
  const ledger = openSqliteLedger(folder, systemClock)
  await migrate(ledger)
  await ledger.close()
})

test('a second ledger in the same process is refused too, and the refusal does not loosen the lock', async () => {
  const { folder, other } = setup()
  const ledger = openSqliteLedger(folder, systemClock)
  expect(() => openSqliteLedger(folder, systemClock)).toThrowError(
    expect.objectContaining({ code: 'DATA_DIR_LOCKED' }),
  )
  expect((await other()).said).toBe('DATA_DIR_LOCKED')
  await ledger.close()
})

test('the data dir is made if it is missing, for its owner alone', async () => {
  const { folder } = setup()
  const inner = join(folder, 'a', 'b')
  const ledger = openSqliteLedger(inner, systemClock)
  expect(statSync(inner).mode & 0o077).toBe(0)
  await ledger.close()
})

test('every commit is synced to a write-ahead log, and foreign keys hold', async () => {
  const { folder } = setup()
  const ledger = openSqliteLedger(folder, systemClock)
  onTestFinished(() => ledger.close())
  const pragma = (name: string) =>
    ledger.db.transaction().execute(async (db) => {
      const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db)
      return Object.values(rows[0] ?? {})[0]
    })
  expect([await pragma('journal_mode'), await pragma('synchronous'), await pragma('foreign_keys')]).toEqual([
    'wal',
    2,
    1,
  ])
})

test("the ledger's clock is the one it was given, for readers and writers", async () => {
  const { folder } = setup()
  const clock = new ManualClock()
  const ledger = openSqliteLedger(folder, clock)
  onTestFinished(() => ledger.close())
  const before = await ledger.now()
  clock.advance(1_000)
  expect(await ledger.now()).toBe(before + 1_000)
  expect(await ledger.transaction((tx) => tx.now())).toBe(before + 1_000)
})
