/**
 * How a row was written: the bytes between its values (separators, blanks and keys, exactly as they stood) and the slot
 * each value goes to. Most sources write every row alike, so a row whose gaps are the same bytes needs no look at its
 * keys at all.
 */
export class RowShape {
  readonly slots: Int32Array
  /** Bytes of the gap before each value, at least four (`{"":`). */
  readonly gapSizes: Int32Array
  /** All these gaps as little-endian words, the last word of a gap being its last four bytes. */
  readonly words: Int32Array
  readonly wordEnds: Int32Array
  /** What stands behind the last value, up to the row's end. */
  readonly closing: Uint8Array
  /** Commas to write before each value when values can go straight to their place. */
  readonly commas: Int32Array
  /** Commas behind the last value, for columns that the row lacks. */
  readonly trailing: number
  /** Values come in the order of the columns: no need to collect them first. */
  readonly direct: boolean

  /** `gaps` stand before the values, `closing` behind the last one. `columns` is missing when values must be routed. */
  constructor(gaps: Buffer[], closing: Buffer, slots: number[], columns: number | undefined) {
    this.slots = Int32Array.from(slots)
    this.gapSizes = Int32Array.from(gaps, (gap) => gap.length)
    this.wordEnds = new Int32Array(gaps.length)
    this.closing = Buffer.from(closing)
    this.commas = new Int32Array(slots.length)
    const words: number[] = []
    gaps.forEach((gap, index) => {
      for (let at = 0; at + 4 < gap.length; at += 4) words.push(gap.readInt32LE(at))
      words.push(gap.readInt32LE(gap.length - 4))
      this.wordEnds[index] = words.length
    })
    this.words = Int32Array.from(words)
    let last = 0
    let ascending = columns !== undefined
    let seen = -1
    slots.forEach((slot, index) => {
      if (slot < 0) return
      if (slot <= seen) ascending = false
      seen = slot
      this.commas[index] = slot - last
      last = slot
    })
    this.direct = ascending
    this.trailing = Math.max(0, (columns ?? 0) - 1 - last)
  }
}
