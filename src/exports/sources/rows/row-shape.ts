/**
 * How a row was written: the bytes between its values (separators, blanks and keys, exactly as they stood) and the slot
 * each value goes to. Most sources write every row alike, so a row whose gaps are the same bytes needs no look at its
 * keys at all.
 */
export class RowShape {
  /**
   * For each value: bytes of the gap before it (at least four, `{"":`), how many whole words of it are to be compared,
   * these words and the gap's last four bytes (little-endian), the value's slot, commas to write before the value when
   * it can go straight to its place. A zero ends it. In one array, because a row's loop is short of registers.
   */
  readonly code: Int32Array
  /** What follows the last value, up to the row's end. */
  readonly closing: Uint8Array
  /** Commas after the last value, for columns that the row lacks. */
  readonly trailing: number
  /** Slots of the columns that the row lacks. */
  readonly missing: Int32Array
  /** Values come in the order of the columns: no need to collect them first. */
  readonly direct: boolean

  /** `gaps` come before the values, `closing` after the last one. `columns` is missing when values must be routed. */
  constructor(gaps: Buffer[], closing: Buffer, slots: number[], columns: number | undefined) {
    this.closing = Buffer.from(closing)
    const code: number[][] = []
    let last = 0
    let seen = -1
    let ascending = columns !== undefined
    gaps.forEach((gap, index) => {
      const slot = slots[index]!
      const words: number[] = []
      for (let at = 0; at + 4 < gap.length; at += 4) words.push(gap.readInt32LE(at))
      code.push([gap.length, words.length], words, [gap.readInt32LE(gap.length - 4), slot, slot - last])
      if (slot < 0) return
      if (slot <= seen) ascending = false
      seen = slot
      last = slot
    })
    const present = new Set(slots)
    this.missing = Int32Array.from([...Array(columns ?? 0).keys()].filter((slot) => !present.has(slot)))
    this.code = Int32Array.from([...code, [0]].flat())
    this.direct = ascending
    this.trailing = Math.max(0, (columns ?? 0) - 1 - last)
  }
}
