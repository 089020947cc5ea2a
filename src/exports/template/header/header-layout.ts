import type { CellStyle, FixedCell } from '../../sheet/index.ts'
import type { Pair, PairValue } from './header-pairs.ts'

/** Pairs in one row of a header that arranges itself. */
const MAX_PAIRS_PER_ROW = 4

/** How labels and values look. */
type PairStyles = { label: CellStyle; value: CellStyle }

export interface HeaderLayout {
  cells: FixedCell[]
  rows: number
}

/**
 * Arranges pairs in rows: at most four a row, two columns at least for each, all rows alike but the last, which may be
 * shorter (5 → 3 + 2). A short last row keeps the grid of the others, so that labels are below labels.
 */
export function layoutPairs(pairs: readonly Pair[], width: number, styles: PairStyles): HeaderLayout {
  const most = Math.max(1, Math.min(MAX_PAIRS_PER_ROW, Math.floor(width / 2)))
  const rows = Math.ceil(pairs.length / most)
  const slots = Math.ceil(pairs.length / Math.max(1, rows))
  const cells = pairs.flatMap((pair, i) =>
    placePair(pair, { row: Math.floor(i / slots), slot: i % slots, slots, width }, styles),
  )
  return { cells, rows }
}

/**
 * Lays out rows as they were given, each spread evenly over the width. A row with more pairs than columns cannot be laid out
 * as given: it goes on in the next one.
 */
export function layoutRows(rows: readonly Pair[][], width: number, styles: PairStyles): HeaderLayout {
  const cells: FixedCell[] = []
  let at = 0
  for (const row of rows) {
    const lines = Math.max(1, Math.ceil(row.length / width))
    const slots = Math.ceil(row.length / lines)
    row.forEach((pair, i) => {
      const line = Math.floor(i / slots)
      const inLine = Math.min(slots, row.length - line * slots)
      cells.push(...placePair(pair, { row: at + line, slot: i % slots, slots: inLine, width }, styles))
    })
    at += lines
  }
  return { cells, rows: at }
}

/** The cells of the pair in place `slot` of `slots`: label and value, or one cell for both where there is no room. */
function placePair(
  pair: Pair,
  { row, slot, slots, width }: { row: number; slot: number; slots: number; width: number },
  { label, value }: PairStyles,
): FixedCell[] {
  const from = Math.floor((slot * width) / slots)
  const span = Math.floor(((slot + 1) * width) / slots) - from
  if (span < 2) return [cell(row, from, span, `${pair.label}: ${shown(pair.value)}`, value)]
  const labelSpan = Math.floor(span / 2)
  return [
    cell(row, from, labelSpan, pair.label, label),
    cell(row, from + labelSpan, span - labelSpan, pair.value, value),
  ]
}

function cell(
  row: number,
  column: number,
  columnSpan: number,
  value: PairValue,
  style: CellStyle,
): FixedCell {
  return { row, column, rowSpan: 1, columnSpan, value, style }
}

function shown(value: PairValue): string {
  return value === null ? '' : String(value)
}
