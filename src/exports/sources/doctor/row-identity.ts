export type Row = Readonly<Record<string, unknown>>

/** Tells rows of a source apart, by what was seen of them: the members whose values all differ, or else the whole row. */
export class RowIdentity {
  readonly #keys: string[]

  constructor(rows: readonly Row[]) {
    const differ = (key: string) => new Set(rows.map((row) => textOf(row[key]))).size === rows.length
    this.#keys = rows.length > 1 ? Object.keys(rows[0]!).filter(differ) : []
  }

  /** Whether these are one row, asked for twice. Some members may be made anew for each answer, such as a time. */
  isLike(one: Row, other: Row): boolean {
    const equal = this.#keys.filter((key) => textOf(one[key]) === textOf(other[key]))
    return this.#keys.length === 0 ? textOf(one) === textOf(other) : equal.length * 2 >= this.#keys.length
  }

  /** Whether the row is among these, with all that tells it apart. */
  isAmong(row: Row, rows: readonly Row[]): boolean {
    const print = (of: Row) =>
      this.#keys.length === 0 ? textOf(of) : textOf(this.#keys.map((key) => of[key]))
    return rows.some((other) => print(other) === print(row))
  }
}

function textOf(value: unknown): string | undefined {
  return JSON.stringify(value)
}
