import type { FixedArea, SheetPlan } from '../../sheet/index.ts'
import { cellReference } from '../cell-reference.ts'
import { filterRange, leadingLabels } from './defined-names.ts'
import { ROW_HEIGHT } from './fit-heights.ts'
import { fixedMerges, fixedRows } from './fixed-area.ts'
import { type CellLink, hyperlinks } from './hyperlinks.ts'
import { printSetup } from './print-setup.ts'
import type { StyleBook } from './styles.ts'

/** Taller areas are not frozen: on a small screen no row of data could be scrolled into view. */
const TALLEST_FROZEN = 450
/** Nor are wider ones. */
const WIDEST_FROZEN = 80

/** A worksheet from its beginning to the last row above the data. */
export function worksheetHead(plan: SheetPlan, widths: readonly number[], styles: StyleBook): string {
  const { usualHeight } = plan
  const height =
    usualHeight === undefined
      ? `defaultRowHeight="${ROW_HEIGHT}"`
      : `defaultRowHeight="${usualHeight}" customHeight="1"`
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ' +
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">' +
    '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>' +
    `<sheetViews><sheetView workbookViewId="0">${frozenPane(plan, widths)}</sheetView></sheetViews>` +
    `<sheetFormatPr ${height}/>${columns(widths)}<sheetData>${fixedRows(plan.top, 1, styles)}`
  )
}

export interface SheetEnd {
  /** First row below the data and its totals, and below the data alone. */
  nextRow: number
  dataEnd: number
  merges: readonly string[]
  /** false where another file goes on with this sheet. */
  bottom: boolean
  links: readonly CellLink[]
}

/** The rest, from the first row below the data. */
export function worksheetTail(
  plan: SheetPlan,
  { widths, styles }: { widths: readonly number[]; styles: StyleBook },
  { nextRow, dataEnd, merges, bottom, links }: SheetEnd,
): string {
  const filter = filterRange(plan, dataEnd)
  const ends = endAreas(plan, nextRow, bottom)
  const all = [
    ...fixedMerges(plan.top, 1),
    ...merges,
    ...ends.flatMap(({ area, firstRow }) => fixedMerges(area, firstRow)),
  ]
  const merged = all.map((range) => `<mergeCell ref="${range}"/>`).join('')
  return (
    ends.map(({ area, firstRow }) => fixedRows(area, firstRow, styles)).join('') +
    `</sheetData>${filter === null ? '' : `<autoFilter ref="${filter}"/>`}` +
    `${merged && `<mergeCells count="${all.length}">${merged}</mergeCells>`}` +
    `${hyperlinks(links)}${printSetup(plan, widths)}</worksheet>`
  )
}

/** What is below the data, and where. */
function endAreas(
  { bottom, mark }: SheetPlan,
  nextRow: number,
  isLast: boolean,
): { area: FixedArea; firstRow: number }[] {
  const footer = isLast ? [{ area: bottom, firstRow: nextRow }] : []
  const below = nextRow + (isLast ? bottom.rows : 0)
  return mark ? [...footer, { area: mark, firstRow: below }] : footer
}

function frozenPane(plan: SheetPlan, widths: readonly number[]): string {
  const { top } = plan
  let height = 0
  for (let row = 0; row < top.rows; row += 1) height += top.heights[row] ?? plan.usualHeight ?? ROW_HEIGHT
  const rows = height > TALLEST_FROZEN ? 0 : top.rows
  const labels = leadingLabels(plan)
  const wide = widths.slice(0, labels).reduce((sum, width) => sum + width, 0) > WIDEST_FROZEN
  const columns = wide ? 0 : labels
  if (rows === 0 && columns === 0) return ''
  const first = cellReference(rows + 1, columns)
  const pane = rows === 0 ? 'topRight' : columns === 0 ? 'bottomLeft' : 'bottomRight'
  const splits = (columns > 0 ? ` xSplit="${columns}"` : '') + (rows > 0 ? ` ySplit="${rows}"` : '')
  const others = pane === 'bottomRight' ? '<selection pane="topRight"/><selection pane="bottomLeft"/>' : ''
  return (
    `<pane${splits} topLeftCell="${first}" activePane="${pane}" state="frozen"/>` +
    `${others}<selection pane="${pane}" activeCell="${first}" sqref="${first}"/>`
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
