export interface MapLayout {
  /** Side of a cell, its gap included. */
  cell: number
  gap: number
  columns: number
  rows: number
  height: number
}

const LARGEST = 26
const SMALLEST = 5
/** Few targets get large cells, many get small ones; below the smallest the map grows in height instead. */
const HEIGHT = 260

/** Cells that fill the width, as large as the height allows. */
export function layOut(count: number, width: number): MapLayout {
  const fits = Math.floor(Math.sqrt((width * HEIGHT) / Math.max(1, count)))
  const cell = Math.max(SMALLEST, Math.min(LARGEST, fits))
  const columns = Math.max(1, Math.floor(width / cell))
  const rows = Math.ceil(count / columns)
  return { cell, gap: cell >= 10 ? 2 : 1, columns, rows, height: rows * cell }
}

/** The index of the cell below a point, or null beside all of them. */
export function cellAt({ cell, columns }: MapLayout, x: number, y: number, count: number): number | null {
  const column = Math.floor(x / cell)
  if (column < 0 || column >= columns || y < 0) return null
  const index = Math.floor(y / cell) * columns + column
  return index < count ? index : null
}
