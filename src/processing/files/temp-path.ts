import { realpath } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve, sep } from 'node:path'
import { type AppError, ERRORS } from '../../kernel/index.ts'
import { taskError } from '../task.ts'

/**
 * Where a caller's temp file really is. Only what is inside the temp dir is touched: no `..`, and no folder on the way
 * that is a link to somewhere else. Whether the last part is a regular file is seen after it was taken, when nobody can
 * exchange it any more.
 */
export async function resolveTempPath(temp: string, path: string): Promise<string> {
  const absolute = resolve(path)
  const ours = absolute.startsWith(temp + sep) && !absolute.includes('\0')
  if (!ours || path.split(/[\\/]/).includes('..')) throw badPath()
  const folder = dirname(absolute)
  // `temp` is a real path already, so only folders below it can lead elsewhere.
  if (folder === temp) return absolute
  const real = await realpath(folder)
  if (real !== temp && !real.startsWith(temp + sep)) throw badPath()
  return join(real, basename(absolute))
}

export function badPath(): AppError {
  return taskError(ERRORS.REQUEST_INVALID, 'badTempPath')
}

/** The extension of what the user calls the file, or '' when it is none that a file name should carry. */
export function extensionOf(originalFilename: string): string {
  const extension = extname(basename(originalFilename.replaceAll('\\', '/')))
  return /^\.[\p{L}\p{N}_-]{1,16}$/u.test(extension) ? extension : ''
}
