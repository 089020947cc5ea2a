import type { IncomingHttpHeaders } from 'node:http'
import { AppError, ERRORS } from '../../kernel/index.ts'

const FILE_NAME = 'x-amz-meta-file-name'

/** Headers carry ASCII only. */
export function metadataFor(fileName: string | undefined): Record<string, string> {
  return fileName === undefined ? {} : { [FILE_NAME]: encodeURIComponent(fileName.toWellFormed()) }
}

export function fileNameFrom(headers: IncomingHttpHeaders): string | null {
  const stored = headers[FILE_NAME]
  if (typeof stored !== 'string') return null
  try {
    return decodeURIComponent(stored)
  } catch {
    return stored // not written by Wharf
  }
}

/** Every object has one: an answer without it comes from something else, such as a proxy that asks for a password. */
export function requireEtag(etag: string | undefined): string {
  if (etag) return etag
  throw new AppError(
    ERRORS.STORAGE_UNAVAILABLE,
    'the answer has no entity tag: it does not come from an S3-compatible store',
  )
}
