const APOSTROPHE = 0x27

/** First characters by which a spreadsheet takes a text for a formula, with their full-width and small forms. */
const SIGNS = '=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212'
/** Blanks by which a program may end a cell or a line; OWASP counts them among the first characters of formulas, whatever follows. */
const BREAKS = '\t\r\n'
/** What some programs drop before they look at a text (LibreOffice: NUL), or hide from the reader. By itself it is harmless. */
const UNSEEN = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*/u
const NULS = /^\0+/

/** What a text's first byte says: 0 no formula, 1 a formula, 2 the next characters decide, 3 a sign: all of it decides. */
export const FORMULA_START = new Uint8Array(256)
// Control characters, blanks, and the first bytes of unseen characters and signs beyond ASCII.
FORMULA_START.fill(2, 0, 0x21)
for (const byte of [0x7f, 0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3]) FORMULA_START[byte] = 2
for (const char of `=@${BREAKS}`) FORMULA_START[char.charCodeAt(0)] = 1
for (const sign of '+-') FORMULA_START[sign.charCodeAt(0)] = 3

/**
 * A time (`-12:30:00`; `-12:30` would be a range of rows), a sum of money (`-$3.00`, `+3,50 €`), digits hidden by asterisks, and
 * the `-Infinity` of databases.
 */
const HARMLESS = [
  /^[+-]\d+:\d\d:\d\d(?:[.,]\d+)?$/,
  /^[+-] ?\p{Sc} ?\d[\d .,']*$/u,
  /^[+-] ?\d[\d .,']*\p{Sc}$/u,
  new RegExp(`^[+-] ?\\d[\\d .,']*(?:${Intl.supportedValuesOf('currency').join('|')})$`),
  /^[+-](?=.*\*\*)[\d .,()*-]+$/,
  /^[+-]infinity$/i,
]
/**
 * A signed text with nothing but digits and what numbers and phone numbers are written with (`-12.50`, `+86 138-0013`, a lone
 * `-`) has nothing in it that a formula could call or refer to. `+1-1` is a sum; with two groups of digits side by side, in brackets
 * or not, it is none, because no operator is between them. `+49 30/12` is a number to a spreadsheet, 49 and a fraction, and stays
 * escaped; `+49 (30) 12/34` is none. With an exponent it must be a number: `-E5` is a cell.
 */
const PLAIN_SIGNED =
  /^[+-](?:[\d .,()%]*|[ .,()%-]*|(?=.*(?:\d \d|\d ?\(|\) ?\d))[\d .,()%-]*|\d+(?:\.\d*)?e[+-]?\d+)$/i
const FRACTION = /\d+ +\d+ *\/ *\d+/g
const PLAIN = new Uint8Array(256)
for (const char of '0123456789 .,()%') PLAIN[char.charCodeAt(0)] = 1
/** What may follow plain bytes in a text that is no formula: `-`, `/`, an exponent, `:`, `*`, `'`, a currency sign or code, or `Infinity`. */
const UNDECIDED = new Uint8Array(256).fill(1, 0x80)
for (const char of "-eE:*'$iI/ABCDFGHJKLMNOPQRSTUVWXYZ") UNDECIDED[char.charCodeAt(0)] = 1

/** Whether a spreadsheet would take the text for a formula. */
export function isFormula(text: string): boolean {
  const first = text[0] === '\0' ? text.replace(NULS, '')[0] : text[0]
  if (first === undefined) return false
  if (BREAKS.includes(first)) return true
  const [{ length }] = UNSEEN.exec(text)!
  const sign = text[length]
  return sign !== undefined && SIGNS.includes(sign) && !isHarmless(text.slice(length))
}

/**
 * Puts an apostrophe before the text from `at` to `end`, which is after its closing quote, if it is like a formula, and
 * returns where it ends now. To be asked when `FORMULA_START` of its first byte is not 0.
 */
export function disarm(out: Uint8Array, at: number, end: number): number {
  const start = FORMULA_START[out[at]!]!
  if (start === 3 && isPlainSigned(out, at, end - 1)) return end
  if (start === 2 && !isFormula(textOf(out, at, end - 1))) return end
  // A loop: for the short texts of most cells, copyWithin costs several times as much.
  for (let p = end; p > at; p--) out[p] = out[p - 1]!
  out[at] = APOSTROPHE
  return end + 1
}

function isPlainSigned(bytes: Uint8Array, at: number, end: number): boolean {
  let p = at + 1
  while (p < end && PLAIN[bytes[p]!] === 1) p++
  if (p === end) return true
  return UNDECIDED[bytes[p]!] === 1 && isHarmless(textOf(bytes, at, end))
}

function isHarmless(signed: string): boolean {
  if (signed.includes('/')) return PLAIN_SIGNED.test(signed.replace(FRACTION, '1-1').replaceAll('/', '-'))
  return PLAIN_SIGNED.test(signed) || HARMLESS.some((form) => form.test(signed))
}

function textOf(bytes: Uint8Array, at: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString()
}
