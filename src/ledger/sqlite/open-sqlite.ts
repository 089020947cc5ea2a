import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { AppError, type Clock, ERRORS, messageOf, takeFolder, touchFileSync } from '../../kernel/index.ts'
import { Ledger } from '../ledger.ts'
import type { Schema } from '../schema.ts'
import { nodeSqliteDialect } from './sqlite-driver.ts'
import { watchPlace } from './watch-place.ts'

const SQLITE_BUSY = 5
const SQLITE_FULL = 13
/** `wharf backup` writes one setting when it ends: the server waits for that, as long as it takes to write a row. */
const BACKUP_MS = 2_000

/**
 * Opens the embedded ledger in `dataDir`. Only one process at a time may hold a data dir: it keeps a second little
 * database locked for as long as it lives, and the operating system lets go of that lock however the process ends.
 */
export function openSqliteLedger(dataDir: string, clock: Clock): Ledger {
  try {
    return open(dataDir, clock)
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

function open(dataDir: string, clock: Clock): Ledger {
  takeFolder(dataDir)
  // SQLite would make them as the umask says, and gives what it puts beside a database the same mode.
  for (const name of ['ledger.db', 'lock.db']) touchFileSync(join(dataDir, name))
  const lock = lockDataDir(dataDir)
  return openLedgerFile(join(dataDir, 'ledger.db'), clock, () => lock.close()).ledger
}

/** A ledger on one file; the caller sees to it that no other process writes to it. */
export function openLedgerFile(
  file: string,
  clock: Clock,
  onClose: () => void = () => undefined,
): { ledger: Ledger; writer: DatabaseSync } {
  const writer = new DatabaseSync(file, { timeout: BACKUP_MS })
  writer.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  const reader = new DatabaseSync(file, { timeout: BACKUP_MS })
  reader.exec('pragma query_only = on')
  for (const db of [writer, reader]) db.function('wharf_now', () => BigInt(clock.now()))
  const db = new Kysely<Schema>({ dialect: nodeSqliteDialect({ writer, reader }) })
  return { ledger: new Ledger(db, 'sqlite', async () => onClose(), { misplaced: watchPlace(file) }), writer }
}

/**
 * Keeps every other process off the folder until what it returns is closed; refused while one is there. For those whose
 * ledger is elsewhere, or is about to be replaced.
 */
export function holdDataDir(dataDir: string): { close(): void } {
  try {
    takeFolder(dataDir)
    touchFileSync(join(dataDir, 'lock.db'))
    return lockDataDir(dataDir)
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

function lockDataDir(dataDir: string): DatabaseSync {
  const lock = new DatabaseSync(join(dataDir, 'lock.db'))
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive')
    return lock
  } catch (cause) {
    lock.close()
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause
    throw new AppError(
      ERRORS.DATA_DIR_LOCKED,
      `another Wharf is running on the data directory ${dataDir}; stop it, or set WHARF_DATA_DIR to another one`,
      { cause },
    )
  }
}

/** A start that fails on its folder: full, read-only, not a folder, not ours. */
function unusable(dataDir: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  const kind =
    (cause as { errcode?: number }).errcode === SQLITE_FULL ? ERRORS.STORAGE_FULL : ERRORS.STORAGE_DENIED
  const advice =
    'make room (its folder spool may be deleted), let this user write there, or set WHARF_DATA_DIR to another folder'
  return new AppError(kind, `the data directory ${dataDir} cannot be used (${messageOf(cause)}); ${advice}`, {
    cause,
  })
}
