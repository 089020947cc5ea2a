/**
 * The input of the deflater, and all that it shares with `encode/`, which writes it: rows as XML, and marks that describe
 * them. Both belong to the thread: it encodes and compresses one piece at a time, without a pause in between. They are
 * constants and not fields, because the loops over them are faster that way: address and size are then part of the compiled
 * code, and not looked up and checked at each access.
 */

/** XML is compressed as soon as there is this much of it: it fits a processor's cache, and memory stays bounded. */
export const FILL = 1 << 19
/** More than one cell can take: 32,767 units, each at most 7 bytes long once escaped, and the markup around them. */
const SLACK = 1 << 18
export const XML = new Uint8Array(FILL + SLACK)
export const XML_VIEW = new DataView(XML.buffer)

export const MAX_MARKS = 1 << 15
/** Words per mark. */
export const MARK_WORDS = 4
/**
 * What the encoder knows about the bytes, and a search would have to find out. Four words per cell: where the value before
 * it ends, the place after its row number, where its value begins, and its kind. They are hints: a wrong one costs
 * compression, never correctness.
 */
export const MARKS = new Int32Array(MAX_MARKS * MARK_WORDS)

/** Limits of the column and opening numbers in a kind. Two that share a number only hide each other. */
export const COLUMNS = 1 << 11
export const OPENINGS = 1 << 8

export function markKind(column: number, opening: number): number {
  return (column % COLUMNS) * OPENINGS + (opening % OPENINGS)
}
