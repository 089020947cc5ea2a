import type { CellStyle, FixedArea, FixedCell, RichRun } from '../../sheet/index.ts'
import { cellReference } from '../cell-reference.ts'
import { cutToCell, escapeMarkup, inlineText, needsInline, readableText } from '../xml-text.ts'
import { fontName, fontProperties, isColor, type StyleBook } from './styles.ts'

/** The rows of a title, header or footer area, with the area's first row at `firstRow` (from 1). */
export function fixedRows(area: FixedArea, firstRow: number, styles: StyleBook): string {
  const rows: string[] = []
  for (let row = 0; row < area.rows; row += 1) {
    const cells = area.cells
      .flatMap((cell) => cellsInRow(cell, row))
      .sort((a, b) => a.column - b.column)
      .map((cell) => fixedCell(cell, cellReference(firstRow + row, cell.column), styles))
    const height = area.heights[row]
    if (cells.length === 0 && height === undefined) continue
    const custom = height === undefined ? '' : ` ht="${Math.min(Math.max(height, 0), 409)}" customHeight="1"`
    rows.push(`<row r="${firstRow + row}"${custom}>${cells.join('')}</row>`)
  }
  return rows.join('')
}

/** A merged cell's border shows where each of the cells below it has one. */
function cellsInRow(cell: FixedCell, row: number): FixedCell[] {
  if (row < cell.row || row >= cell.row + cell.rowSpan) return []
  if (!isColor(cell.style.border)) return row === cell.row ? [cell] : []
  return Array.from({ length: cell.columnSpan }, (_, n) => {
    const covered = n > 0 || row > cell.row
    return { ...cell, row, column: cell.column + n, value: covered ? null : cell.value }
  })
}

export function fixedMerges(area: FixedArea, firstRow: number): string[] {
  return area.cells
    .filter((cell) => cell.rowSpan > 1 || cell.columnSpan > 1)
    .map(({ row, column, rowSpan, columnSpan }) => {
      const first = cellReference(firstRow + row, column)
      return `${first}:${cellReference(firstRow + row + rowSpan - 1, column + columnSpan - 1)}`
    })
}

function fixedCell({ value, style }: FixedCell, reference: string, styles: StyleBook): string {
  const number = styles.add(style)
  const open = `<c r="${reference}"${number === 0 ? '' : ` s="${number}"`}`
  if (value === null || value === '') return `${open}/>`
  if (typeof value === 'boolean') return `${open} t="b"><v>${value ? 1 : 0}</v></c>`
  if (typeof value === 'number' && Number.isFinite(value)) return `${open}><v>${value}</v></c>`
  if (Array.isArray(value)) return `${open} t="inlineStr"><is>${richRuns(value, style)}</is></c>`
  const text = cutToCell(readableText(String(value)))
  if (!needsInline(text)) return `${open} t="str"><v>${escapeMarkup(text)}</v></c>`
  return `${open} t="inlineStr"><is>${inlineText(text)}</is></c>`
}

/** A run says all of its font, because what it leaves out would fall back to the workbook's font, not to the cell's. */
function richRuns(runs: readonly RichRun[], style: CellStyle): string {
  const readable = runs.map((run) => ({ ...run, text: readableText(run.text) }))
  let left = cutToCell(readable.map((run) => run.text).join('')).length
  const parts = readable.map(({ text, ...look }) => {
    const kept = text.slice(0, left)
    left -= kept.length
    if (kept === '') return ''
    const font = `${fontProperties({ ...style, ...look })}${fontName(style, 'rFont')}`
    return inlineText(kept, `<rPr>${font}</rPr>`)
  })
  return parts.join('') || '<t></t>'
}
