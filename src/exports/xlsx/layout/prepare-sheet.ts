import type { FieldDigits, FixedArea, SheetPlan } from '../../sheet/index.ts'
import { makeRecipe, type SheetRecipe } from '../encode/index.ts'
import { deflate } from '../part-file.ts'
import {
  type DefinedName,
  filterName,
  filterRange,
  firstPageColumns,
  fitHeights,
  printTitles,
  ROW_HEIGHT,
  type SheetEnd,
  type StyleBook,
  worksheetHead,
  worksheetTail,
} from '../parts/index.ts'
import { type Piece, piecesOf, type SpoolSegment } from '../pieces.ts'
import type { DeflatedBlock } from '../zip/deflate-block.ts'
import { columnWidths } from './column-widths.ts'
import { showingWhole } from './plain-format.ts'
import { RowLabels } from './row-labels.ts'
import { SheetTotals } from './sheet-totals.ts'

export interface SheetInput {
  plan: SheetPlan
  segments: SpoolSegment[]
  /** Widest value of each spool field in characters, for columns without a width of their own. */
  widths?: number[]
  digits?: FieldDigits[]
}

/** A sheet with everything that does not depend on its rows. Its styles are in the book's once this has been made. */
export interface PreparedSheet {
  name: string
  plan: SheetPlan
  recipe: SheetRecipe
  labels: RowLabels
  pieces: Piece[]
  /** Null: no column has a total. */
  totals: SheetTotals | null
  head: DeflatedBlock
  /** Weight of a file that holds this sheet and no rows yet. */
  emptyBytes: number
  closingBytes: number
  tail(end: Omit<SheetEnd, 'merges'>): string
  /** What the workbook has to say of the sheet. */
  names(nextRow: number): DefinedName[]
}

/** Styles, theme and the other small parts of a file. */
const PACKAGE_BYTES = 8_192

export function prepareSheet(
  { plan: asked, segments, ...measured }: SheetInput,
  { name, styles, timezone }: { name: string; styles: StyleBook; timezone: string },
): PreparedSheet {
  const rows = segments.reduce((sum, { slices }) => slices.reduce((all, slice) => all + slice.rows, sum), 0)
  const given = showingWhole(asked, measured, rows)
  const widths = columnWidths(given, measured, rows)
  const plan = fitAreas(withinPage(given, widths), widths)
  const labels = new RowLabels(plan.rowHeads, { styles, widths })
  const pieces = piecesOf(plan, segments)
  const totals = plan.totals ? new SheetTotals(plan, { styles, labels, pieces }) : null
  const tail = (end: Omit<SheetEnd, 'merges'>) =>
    worksheetTail(
      plan,
      { widths, styles },
      { ...end, merges: [...labels.merges(), ...(totals?.merges ?? [])] },
    )
  const names = (nextRow: number) => {
    const filter = filterRange(plan, nextRow)
    return [...(filter === null ? [] : [filterName(filter)]), ...printTitles(plan, widths)]
  }
  const head = deflate(worksheetHead(plan, widths, styles))
  return {
    name,
    plan,
    recipe: makeRecipe(plan, { styles, timezone, widths }),
    labels,
    pieces,
    totals,
    head,
    emptyBytes: head.bytes + PACKAGE_BYTES,
    closingBytes:
      Buffer.byteLength(tail({ nextRow: 1_000_000, dataEnd: 1_000_000, bottom: true, links: [] })) +
      (totals?.bytes ?? 0),
    tail,
    names,
  }
}

/** Title, summary and other texts over the whole table end with the first page, where a printed sheet has several side by side. */
function withinPage(plan: SheetPlan, widths: readonly number[]): SheetPlan {
  const most = firstPageColumns(widths)
  const within = (area: FixedArea, rows: number): FixedArea => {
    const cells = area.cells.map((cell) =>
      cell.column === 0 && cell.row < rows ? { ...cell, columnSpan: Math.min(cell.columnSpan, most) } : cell,
    )
    return { ...area, cells }
  }
  const { top, bottom, headRows = 0 } = plan
  return { ...plan, top: within(top, top.rows - headRows), bottom: within(bottom, bottom.rows) }
}

function fitAreas(plan: SheetPlan, widths: readonly number[]): SheetPlan {
  const fit = (area: FixedArea) => fitHeights(area, widths, plan.usualHeight ?? ROW_HEIGHT)
  return { ...plan, top: fit(plan.top), bottom: fit(plan.bottom), ...(plan.mark && { mark: fit(plan.mark) }) }
}
