import type { SheetPlan } from '../sheet-plan.ts'
import { fixedMerges, fixedRows } from './fixed-area.ts'
import type { StyleBook } from './styles.ts'

/** Taller areas are not frozen: on a small screen no row of data could be scrolled into view. */
const TALLEST_FROZEN = 450
const ROW_HEIGHT = 15

/** A worksheet from its beginning to the last row above the data. */
export function worksheetHead(plan: SheetPlan, widths: readonly number[], styles: StyleBook): string {
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ' +
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">' +
    `<sheetViews><sheetView workbookViewId="0">${frozenPane(plan)}</sheetView></sheetViews>` +
    `<sheetFormatPr defaultRowHeight="${ROW_HEIGHT}"/>${columns(widths)}<sheetData>${fixedRows(plan.top, 1, styles)}`
  )
}

/** The rest, from the first row below the data. `bottom` is false where another file goes on with this sheet. */
export function worksheetTail(
  plan: SheetPlan,
  styles: StyleBook,
  { nextRow, merges, bottom }: { nextRow: number; merges: readonly string[]; bottom: boolean },
): string {
  const all = [...fixedMerges(plan.top, 1), ...merges, ...(bottom ? fixedMerges(plan.bottom, nextRow) : [])]
  const merged = all.map((range) => `<mergeCell ref="${range}"/>`).join('')
  return (
    (bottom ? fixedRows(plan.bottom, nextRow, styles) : '') +
    `</sheetData>${merged && `<mergeCells count="${all.length}">${merged}</mergeCells>`}` +
    '<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/></worksheet>'
  )
}

function frozenPane({ top }: SheetPlan): string {
  let height = 0
  for (let row = 0; row < top.rows; row += 1) height += top.heights[row] ?? ROW_HEIGHT
  if (top.rows === 0 || height > TALLEST_FROZEN) return ''
  const first = `A${top.rows + 1}`
  return (
    `<pane ySplit="${top.rows}" topLeftCell="${first}" activePane="bottomLeft" state="frozen"/>` +
    `<selection pane="bottomLeft" activeCell="${first}" sqref="${first}"/>`
  )
}

/** Excel counts five pixels of padding into a column's width, with digits seven pixels wide. */
function columns(widths: readonly number[]): string {
  if (widths.length === 0) return ''
  const items = widths.map((width, n) => {
    const stored = Math.min(255, Math.trunc(((width * 7 + 5) / 7) * 256) / 256)
    return `<col min="${n + 1}" max="${n + 1}" width="${stored}" customWidth="1"/>`
  })
  return `<cols>${items.join('')}</cols>`
}
