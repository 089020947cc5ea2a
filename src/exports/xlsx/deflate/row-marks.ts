export const MAX_MARKS = 1 << 15
/** Words a mark has. */
export const MARK_WORDS = 4

/**
 * What the maker of rows knows about the bytes, and a search would have to find out. Four words a cell: where the value
 * before it ends, the place after its row number, where its value begins, and of which kind it is. They are hints: a wrong
 * one costs compression, never correctness.
 */
export const MARKS = new Int32Array(MAX_MARKS * MARK_WORDS)

/** Columns and openings by number; both are kept short, as those that share a number only hide each other. */
export const COLUMNS = 1 << 11
export const OPENINGS = 1 << 8

export function markKind(column: number, opening: number): number {
  return (column % COLUMNS) * OPENINGS + (opening % OPENINGS)
}
