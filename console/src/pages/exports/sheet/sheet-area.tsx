import type { SheetArea, SheetCell } from '../../../api/export-drafts.ts'
import { lookOf } from './cell-look.ts'

/** The laid-out cells above or below the data, each with its place and span. */
export function SheetAreaRows({ area, firstRow }: { area: SheetArea; firstRow: number }) {
  return Array.from({ length: area.rows }, (_, row) => (
    <tr key={row}>
      <th scope="row">{firstRow + row}</th>
      {area.cells
        .filter((cell) => cell.row === row)
        .sort((a, b) => a.column - b.column)
        .map((cell) => (
          <td key={cell.column} rowSpan={cell.rowSpan} colSpan={cell.columnSpan} style={lookOf(cell.style)}>
            <Value value={cell.value} />
          </td>
        ))}
    </tr>
  ))
}

function Value({ value }: { value: SheetCell['value'] }) {
  if (!Array.isArray(value)) return value === null ? '' : String(value)
  return value.map(({ text, ...look }, index) => (
    <span key={index} style={lookOf(look)}>
      {text}
    </span>
  ))
}
