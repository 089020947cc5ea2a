import type { SheetPlan } from '../../sheet/index.ts'
import { cellReference, columnLetters } from '../cell-reference.ts'
import { escapeAttribute } from '../xml-text.ts'
import { pagesAcross } from './print-setup.ts'

/** A name of the workbook that belongs to one sheet. */
export interface DefinedName {
  name: '_xlnm._FilterDatabase' | '_xlnm.Print_Titles'
  /** Ranges of the sheet, with `$` before each part. */
  ranges: string[]
}

/**
 * Rows and columns that every printed page repeats: the column headers and the row headers. Without these the first column, where there
 * are pages side by side: it most often says what a row is about.
 */
export function printTitles(plan: SheetPlan, widths: readonly number[]): DefinedName[] {
  const { top, headRows = 0 } = plan
  const labels = leadingLabels(plan) || (pagesAcross(widths) > 1 ? 1 : 0)
  const ranges = [
    ...(labels > 0 ? [`$A:$${columnLetters(labels - 1)}`] : []),
    ...(headRows > 0 ? [`$${top.rows - headRows + 1}:$${top.rows}`] : []),
  ]
  return ranges.length > 0 ? [{ name: '_xlnm.Print_Titles', ranges }] : []
}

/** The cells that a filter covers, from the last row of the column headers; null where there is nothing to filter. */
export function filterRange(plan: SheetPlan, nextRow: number): string | null {
  const { top, headRows = 0, columns } = plan
  // Row headers are merged over their rows, which a filter would tear apart.
  const first = leadingLabels(plan)
  const inTheMiddle = (plan.rowHeads?.columns.length ?? 0) > first
  if (headRows === 0 || nextRow === top.rows + 1 || inTheMiddle || first === columns.length) return null
  return `${cellReference(top.rows, first)}:${cellReference(nextRow - 1, columns.length - 1)}`
}

/** Columns at the left edge that show row headers. */
export function leadingLabels({ rowHeads }: SheetPlan): number {
  const columns = rowHeads?.columns ?? []
  return columns.every((column, n) => column === n) ? columns.length : 0
}

export function filterName(range: string): DefinedName {
  return { name: '_xlnm._FilterDatabase', ranges: [range.replace(/[A-Z]+|\d+/g, '$$$&')] }
}

/** `<definedNames>` of a workbook, for its sheets in order. */
export function definedNames(sheets: readonly { name: string; names: readonly DefinedName[] }[]): string {
  const items = sheets.flatMap(({ name: sheet, names }, index) =>
    names.map(({ name, ranges }) => {
      const quoted = `'${sheet.replaceAll("'", "''")}'`
      const text = escapeAttribute(ranges.map((range) => `${quoted}!${range}`).join(','))
      const hidden = name === '_xlnm._FilterDatabase' ? ' hidden="1"' : ''
      return `<definedName name="${name}" localSheetId="${index}"${hidden}>${text}</definedName>`
    }),
  )
  return items.length === 0 ? '' : `<definedNames>${items.join('')}</definedNames>`
}
