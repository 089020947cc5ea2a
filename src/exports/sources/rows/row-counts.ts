/** What is counted of CSV records, by column; see `column-facts.ts`. Of other files their writers count. */
export interface RecordCounts {
  nulls: number[]
  misfits: number[]
  escaped: number[]
  /** Texts with half a surrogate pair, which has no UTF-8 form and became U+FFFD. Counted for every kind of file. */
  replaced: number[]
}

export function noCounts(columns: number): RecordCounts {
  const none = () => Array<number>(columns).fill(0)
  return { nulls: none(), misfits: none(), escaped: none(), replaced: none() }
}

const FACTS = 4
export const NO_VALUE = 0
export const MISFIT = 1
export const GUARDED = 2
export const REPLACED = 3

/** Counts by slot. What is noted of a row counts when the row is kept. */
export class RowCounts {
  #bySlot: Int32Array
  #noted: Int32Array
  #notes = 0

  constructor(slots: number) {
    this.#bySlot = new Int32Array(slots * FACTS)
    this.#noted = new Int32Array(slots * FACTS)
  }

  /** A new slot with that number, which rows so far have lacked. */
  add(slot: number, rows: number): void {
    const size = (slot + 1) * FACTS
    if (size > this.#bySlot.length) {
      const grown = new Int32Array(size * 2)
      grown.set(this.#bySlot)
      this.#bySlot = grown
      const noted = new Int32Array(size * 2)
      noted.set(this.#noted)
      this.#noted = noted
    }
    this.#bySlot.fill(0, slot * FACTS, size)
    this.#bySlot[slot * FACTS] = rows
  }

  startRow(): void {
    this.#notes = 0
  }

  note(slot: number, fact: number): void {
    // A row that has a key very often has no more noted than all its slots could.
    if (this.#notes < this.#noted.length) this.#noted[this.#notes++] = slot * FACTS + fact
  }

  /** The present row is kept: what was noted of it counts. */
  keepRow(): void {
    for (let n = 0; n < this.#notes; n++) this.#bySlot[this.#noted[n]!]! += 1
  }

  count(slot: number, fact: number): void {
    this.#bySlot[slot * FACTS + fact]! += 1
  }

  byColumn(slots: readonly number[]): RecordCounts {
    const of = (fact: number) => slots.map((slot) => this.#bySlot[slot * FACTS + fact]!)
    return { nulls: of(NO_VALUE), misfits: of(MISFIT), escaped: of(GUARDED), replaced: of(REPLACED) }
  }

  restore(
    { nulls = [], misfits = [], escaped = [], replaced = [] }: Partial<RecordCounts>,
    slots: readonly number[],
  ): void {
    for (const [column, slot] of slots.entries()) {
      this.#bySlot[slot * FACTS + NO_VALUE] = nulls[column] ?? 0
      this.#bySlot[slot * FACTS + MISFIT] = misfits[column] ?? 0
      this.#bySlot[slot * FACTS + GUARDED] = escaped[column] ?? 0
      this.#bySlot[slot * FACTS + REPLACED] = replaced[column] ?? 0
    }
  }
}
