const FILE_NAME = 'file-name'

/** Browsers that come through the CDN get the file name from here. */
export function contentDisposition(fileName: string): string {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeRfc8187(fileName)}`
}

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

function encodeRfc8187(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
