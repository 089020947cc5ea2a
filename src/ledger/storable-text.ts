/** In JSON: half of a surrogate pair or a NUL, as an escape that is no escaped backslash; or a whole pair, which is fine. */
const ESCAPES =
  /(?<=(?:^|[^\\])(?:\\\\)*)(?:(?<pair>\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\u(?:0000|d[89a-f][0-9a-f]{2}))/gi
const MAY_HAVE_ESCAPES = /\\u(?:0000|d[89a-f])/i
const LOOKS_LIKE_JSON = /^\s*[[{"]/

/**
 * A text as PostgreSQL takes it: what it cannot store becomes U+FFFD. It takes no NUL at all, and reads neither NUL nor half of a
 * surrogate pair out of JSON, now or when a trigger looks into it; and what a source, a feed or a processor says may have both.
 */
export function storableText(text: string): string {
  const plain = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
  if (!MAY_HAVE_ESCAPES.test(plain) || !LOOKS_LIKE_JSON.test(plain)) return plain
  return plain.replace(ESCAPES, (_, pair?: string) => pair ?? '\ufffd')
}
