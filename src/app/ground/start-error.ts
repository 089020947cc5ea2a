import type { Config } from '../../config.ts'
import { AppError, ERRORS, isAppError, isErrno, messageOf } from '../../kernel/index.ts'
import { madeFolderError } from './folders.ts'

/** Names the setting, and what to do, where a start fails on something that only names a system call. */
export function startError(error: unknown, config: Config): unknown {
  const { WHARF_HOST: host, WHARF_DATA_DIR: dataDir, filesDir } = config
  const { hostname, address, code, syscall, path } = error as Record<string, unknown>
  const isOfHost = hostname === host || address === host
  if (isOfHost && isErrno(error, 'ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'))
    return new AppError(
      ERRORS.CONFIG_INVALID,
      `cannot listen on WHARF_HOST=${host} (${code}): set it to an address of this machine, or to 0.0.0.0 for all of them`,
      { cause: error },
    )
  const isFull = isErrno(error, 'ENOSPC', 'EDQUOT') || isAppError(error, ERRORS.STORAGE_FULL)
  if (!isFull && syscall === 'mkdir' && typeof path === 'string') return madeFolderError(config, path, error)
  if (!isFull || messageOf(error).includes(dataDir)) return error
  const folders = [...new Set([dataDir, filesDir])].join(' or of ')
  return new AppError(
    ERRORS.STORAGE_FULL,
    `the disk of ${folders} is full (${messageOf(error)}): make room (the folder spool in the data directory may be deleted), or set WHARF_DATA_DIR to another folder`,
    { cause: error },
  )
}
