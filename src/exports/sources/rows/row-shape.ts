/**
 * How a row is written: the exact bytes between its values (separators, blanks and keys) and the slot of each value. Most
 * sources write all rows alike, and the keys of a row with the same bytes need not be read at all.
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

/** Shapes that are kept. */
const SHAPES = 4
/** After this many rows with new shapes in a row, no shape is tried or learnt for the next `PAUSE` rows. */
const GIVE_UP = 16
const PAUSE = 1_000
const NONE: readonly RowShape[] = []

/** The shapes of earlier rows, the last one that matched first. */
export class KnownShapes {
  readonly #shapes: RowShape[] = []
  #misses = 0
  #pause = 0

  /** Called once per row. */
  toTry(): readonly RowShape[] {
    if (this.#pause === 0) return this.#shapes
    if (--this.#pause === 0) this.#misses = 0
    return NONE
  }

  matched(index: number): void {
    this.#misses = 0
    if (index === 0) return
    const shape = this.#shapes[index]!
    this.#shapes[index] = this.#shapes[0]!
    this.#shapes[0] = shape
  }

  /** No shape matched a row. True: its shape should be learnt. */
  missed(): boolean {
    const learn = this.#pause === 0 && ++this.#misses <= GIVE_UP
    if (this.#misses > GIVE_UP && this.#pause === 0) this.#pause = PAUSE
    return learn
  }

  add(shape: RowShape): void {
    this.#shapes.unshift(shape)
    if (this.#shapes.length > SHAPES) this.#shapes.pop()
  }

  clear(): void {
    this.#shapes.length = 0
  }
}
