import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError, ERRORS, makeFolder } from '../../../kernel/index.ts'

const SQLITE_BUSY = 5

/**
 * Keeps the folder of `--state` for this process, however it ends: two agents with one key would throw each other out of
 * the server again and again. The lock is SQLite's, which the system lets go of with the process.
 */
export async function lockState(folder: string): Promise<{ release(): void }> {
  await makeFolder(folder)
  const path = join(folder, 'lock.db')
  const lock = new DatabaseSync(path)
  try {
    chmodSync(path, 0o600)
    lock.exec('pragma busy_timeout = 0; begin exclusive')
    return { release: () => lock.close() }
  } catch (cause) {
    lock.close()
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause
    throw new AppError(
      ERRORS.CONFIG_INVALID,
      `another agent is running on --state ${folder}; stop it, or give this one a folder and an enrolment of its own`,
      { cause },
    )
  }
}
