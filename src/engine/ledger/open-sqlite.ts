import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { AppError, type Clock, ERRORS } from '../../kernel/index.ts'
import { Ledger } from './ledger.ts'
import type { Schema } from './schema.ts'
import { nodeSqliteDialect } from './sqlite-driver.ts'

/**
 * Opens the embedded ledger in `dataDir`. Only one process at a time may hold a data dir: it keeps a second little
 * database locked for as long as it lives, and the operating system lets go of that lock however the process ends.
 */
export function openSqliteLedger(dataDir: string, clock: Clock): Ledger {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(dataDir)
  const file = join(dataDir, 'ledger.db')
  const writer = new DatabaseSync(file)
  writer.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  const reader = new DatabaseSync(file)
  reader.exec('pragma query_only = on')
  for (const db of [writer, reader]) db.function('wharf_now', () => BigInt(clock.now()))
  const db = new Kysely<Schema>({ dialect: nodeSqliteDialect({ writer, reader }) })
  return new Ledger(db, 'sqlite', async () => lock.close())
}

function lockDataDir(dataDir: string): DatabaseSync {
  const lock = new DatabaseSync(join(dataDir, 'lock.db'))
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive')
    return lock
  } catch (cause) {
    lock.close()
    throw new AppError(
      ERRORS.DATA_DIR_LOCKED,
      `another Wharf is running on the data directory ${dataDir}; stop it, or set WHARF_DATA_DIR to another one`,
      { cause },
    )
  }
}
