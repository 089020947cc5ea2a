/** Deflate's alphabets (RFC 1951, 3.2.5): lengths and distances are a symbol and some bits as they are. */
export const END_OF_BLOCK = 256
export const LITERAL_SYMBOLS = 286
export const DISTANCE_SYMBOLS = 30
export const MIN_LENGTH = 3
export const MAX_LENGTH = 258
export const MAX_DISTANCE = 32_768

const FIRST_LENGTH = 257

interface Ranges {
  /** First value of each symbol, counted from 0. */
  base: Uint16Array
  extra: Uint8Array
}

/** Of each two, four … symbols in turn the ranges double; `each` says of how many. */
function ranges(symbols: number, each: number): Ranges {
  const base = new Uint16Array(symbols)
  const extra = new Uint8Array(symbols)
  for (let n = 1; n < symbols; n += 1) {
    extra[n] = Math.max(0, Math.floor(n / each) - 1)
    base[n] = base[n - 1]! + (1 << extra[n - 1]!)
  }
  return { base, extra }
}

const LENGTHS = ranges(29, 4)
// The longest match has a symbol of its own, without extra bits, though the one before could represent it too.
LENGTHS.base[28] = MAX_LENGTH - MIN_LENGTH
LENGTHS.extra[28] = 0

export const DISTANCES = ranges(DISTANCE_SYMBOLS, 2)

/** By length - 3: the symbol, how many bits follow it, and those bits. */
export const LENGTH_SYMBOL = new Uint16Array(256)
export const LENGTH_EXTRA = new Uint8Array(256)
export const LENGTH_REST = new Uint8Array(256)
for (let symbol = 0, n = 0; n < 256; n += 1) {
  while (symbol < 28 && n >= LENGTHS.base[symbol + 1]!) symbol += 1
  LENGTH_SYMBOL[n] = FIRST_LENGTH + symbol
  LENGTH_EXTRA[n] = LENGTHS.extra[symbol]!
  LENGTH_REST[n] = n - LENGTHS.base[symbol]!
}

/** By distance - 1 where that is below 256, else by 256 + (distance - 1 >> 7): longer distances share symbols that far. */
export const DISTANCE_SYMBOL = new Uint8Array(512)
for (let symbol = 0, n = 0; n < 512; n += 1) {
  const distance = n < 256 ? n : (n - 256) << 7
  while (symbol < DISTANCE_SYMBOLS - 1 && distance >= DISTANCES.base[symbol + 1]!) symbol += 1
  DISTANCE_SYMBOL[n] = symbol
  if (n === 255) symbol = 0
}
