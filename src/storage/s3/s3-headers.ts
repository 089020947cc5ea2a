const FILE_NAME = 'file-name'

/** User metadata travels as headers, which carry ASCII only. */
export function metadataFor(fileName: string | undefined): Record<string, string> {
  return fileName === undefined ? {} : { [FILE_NAME]: encodeURIComponent(fileName.toWellFormed()) }
}

export function fileNameFrom(metadata: Record<string, string> | undefined): string | null {
  const stored = metadata?.[FILE_NAME]
  if (stored === undefined) return null
  try {
    return decodeURIComponent(stored)
  } catch {
    return stored // not written by Wharf
  }
}
