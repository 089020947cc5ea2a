import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Config } from '../../config.ts'
import { AppError, ERRORS } from '../../kernel/index.ts'

/**
 * A backup in the data dir is lost with it, and a restore would write into the folder that it reads. Throws unless both are
 * apart.
 */
export function requireApart({ WHARF_DATA_DIR: dataDir }: Config, folder: string, advice: string): void {
  const isInside = isWithin(dataDir, folder)
  if (!isInside && !isWithin(folder, dataDir)) return
  const how = isInside ? 'is in the data directory' : 'holds the data directory'
  throw new AppError(ERRORS.OUTPUT_UNUSABLE, `${folder} ${how} ${dataDir}; ${advice}`)
}

function isWithin(outer: string, inner: string): boolean {
  const path = relative(truePath(outer), truePath(inner))
  return path === '' || (path !== '..' && !path.startsWith(`..${sep}`))
}

/** Without links, also of a folder that is yet to be made. */
function truePath(path: string): string {
  const full = resolve(path)
  if (existsSync(full) || dirname(full) === full) return realpathSync(full)
  return join(truePath(dirname(full)), relative(dirname(full), full))
}
