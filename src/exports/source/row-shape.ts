/**
 * How a row was written: the bytes between its values (separators, blanks and keys, exactly as they stood) and the slot
 * each value goes to. Most sources write every row alike, so a row whose gaps are the same bytes needs no look at its
 * keys at all.
 */
export class RowShape {
  readonly slots: Int32Array
  /** All gaps, one after the other; the last one is what closes the row. */
  readonly gaps: Uint8Array
  readonly gapEnds: Int32Array
  /** Commas to write before each value when values can go straight to their place. */
  readonly commas: Int32Array
  /** Commas behind the last value, for columns that the row lacks. */
  readonly trailing: number
  /** Values come in the order of the columns: no need to collect them first. */
  readonly direct: boolean

  constructor(gaps: Uint8Array[], slots: number[], columns: number | undefined) {
    this.slots = Int32Array.from(slots)
    this.gaps = Buffer.concat(gaps)
    this.gapEnds = new Int32Array(gaps.length)
    this.commas = new Int32Array(slots.length)
    let end = 0
    gaps.forEach((gap, index) => {
      end += gap.length
      this.gapEnds[index] = end
    })
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
