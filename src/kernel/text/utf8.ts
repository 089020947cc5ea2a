const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** The text of these bytes. Other encodings are refused: decoded leniently, their letters would become others without a word. */
export function utf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new TypeError('it is not UTF-8')
  }
}
