import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { AppError, ERRORS, isErrno } from '../../kernel/index.ts'

const SQLITE_CANTOPEN = 14

/**
 * Opens the embedded ledger to read it, also while a server has it. In WAL mode SQLite makes files beside the database even
 * to read. On a read-only file system it cannot: a ledger that was closed cleanly is read as a file that nobody changes, one
 * with a log beside it only if SQLite can use what is there.
 */
export function openReadOnly(file: string, { timeout = 0 }: { timeout?: number } = {}): DatabaseSync {
  if (!isOnReadOnlyFileSystem(file)) return new DatabaseSync(file, { readOnly: true, timeout })
  const address = pathToFileURL(file)
  if (!hasLog(file)) address.searchParams.set('immutable', '1')
  const db = new DatabaseSync(address, { readOnly: true, timeout })
  try {
    // The files beside it are opened by the first statement.
    db.prepare('select count(*) from sqlite_master').get()
    return db
  } catch (cause) {
    db.close()
    if ((Number((cause as { errcode?: number }).errcode) & 0xff) !== SQLITE_CANTOPEN) throw cause
    throw new AppError(
      ERRORS.STORAGE_DENIED,
      `the file system of ${dirname(file)} is read-only, and the ledger in it was not closed cleanly: copy the folder to a place that can be written, and run this with WHARF_DATA_DIR set to the copy`,
      { cause },
    )
  }
}

export function isOnReadOnlyFileSystem(file: string): boolean {
  try {
    accessSync(dirname(file), constants.W_OK)
    return false
  } catch (error) {
    return isErrno(error, 'EROFS')
  }
}

/** Committed rows may be in it alone. */
function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}
