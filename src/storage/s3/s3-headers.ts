import type { IncomingHttpHeaders } from 'node:http'

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
