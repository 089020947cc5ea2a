import { columnWidths } from './column-widths.ts'
import { fitHeights, ROW_HEIGHT } from './fit-heights.ts'
import { deflate } from './part-file.ts'
import { type DefinedName, filterName, filterRange, printTitles } from './parts/defined-names.ts'
import type { CellLink } from './parts/hyperlinks.ts'
import type { StyleBook } from './parts/styles.ts'
import { worksheetHead, worksheetTail } from './parts/worksheet.ts'
import { type Piece, piecesOf, type SpoolSegment } from './pieces.ts'
import { RowLabels } from './row-labels.ts'
import type { FixedArea, SheetPlan } from './sheet-plan.ts'
import { makeRecipe, type SheetRecipe } from './sheet-recipe.ts'
import type { DeflatedBlock } from './zip/deflate-block.ts'

export interface SheetInput {
  plan: SheetPlan
  segments: SpoolSegment[]
  /** Widest value of each spool field in characters, for columns without a width of their own. */
  widths?: number[]
}

/** A sheet with everything that does not depend on its rows. Its styles are in the book's once this has been made. */
export interface PreparedSheet {
  name: string
  plan: SheetPlan
  recipe: SheetRecipe
  labels: RowLabels
  pieces: Piece[]
  head: DeflatedBlock
  /** Weight of a file that holds this sheet and no rows yet. */
  emptyBytes: number
  closingBytes: number
  tail(nextRow: number, bottom: boolean, links?: readonly CellLink[]): string
  /** What the workbook has to say of the sheet. */
  names(nextRow: number): DefinedName[]
}

/** Styles, theme and the other small parts of a file. */
const PACKAGE_BYTES = 8_192

export function prepareSheet(
  { plan: given, segments, widths: fieldWidths }: SheetInput,
  { name, styles, timezone }: { name: string; styles: StyleBook; timezone: string },
): PreparedSheet {
  const widths = columnWidths(given, fieldWidths)
  const plan = fitAreas(given, widths)
  const labels = new RowLabels(plan.rowHeads, styles)
  const tail = (nextRow: number, bottom: boolean, links: readonly CellLink[] = []) =>
    worksheetTail(plan, { widths, styles }, { nextRow, bottom, merges: labels.merges(), links })
  const names = (nextRow: number) => {
    const filter = filterRange(plan, nextRow)
    return [...(filter === null ? [] : [filterName(filter)]), ...printTitles(plan)]
  }
  const head = deflate(worksheetHead(plan, widths, styles))
  return {
    name,
    plan,
    recipe: makeRecipe(plan, { styles, timezone, widths }),
    labels,
    pieces: piecesOf(plan, segments),
    head,
    emptyBytes: head.bytes + PACKAGE_BYTES,
    closingBytes: Buffer.byteLength(tail(1_000_000, true)),
    tail,
    names,
  }
}

function fitAreas(plan: SheetPlan, widths: readonly number[]): SheetPlan {
  const fit = (area: FixedArea) => fitHeights(area, widths, plan.usualHeight ?? ROW_HEIGHT)
  return { ...plan, top: fit(plan.top), bottom: fit(plan.bottom), ...(plan.mark && { mark: fit(plan.mark) }) }
}
