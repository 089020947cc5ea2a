/** The bytes that spool and CSV are made of. */
export const LF = 0x0a
export const CR = 0x0d
export const QUOTE = 0x22
export const APOSTROPHE = 0x27
export const COMMA = 0x2c
export const SMALL_N = 0x6e

/** Inside a spooled text: 1 = needs quotes around the field, 2 = the quote that ends it or begins a doubled one. */
export const TEXT_CLASS: Uint8Array = classes([
  [COMMA, 1],
  [CR, 1],
  [LF, 1],
  [QUOTE, 2],
])

/** 1 = as a text's first byte it makes a formula of it. */
export const FORMULA_CLASS: Uint8Array = classes([...'=+-@\t\r'].map((char) => [char.charCodeAt(0), 1]))

/** 1 = ends a field that is no text. */
export const END_CLASS: Uint8Array = classes([
  [COMMA, 1],
  [LF, 1],
])

function classes(members: [byte: number, value: number][]): Uint8Array {
  const table = new Uint8Array(256)
  for (const [byte, value] of members) table[byte] = value
  return table
}
