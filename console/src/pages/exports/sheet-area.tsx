import type { CSSProperties } from 'react'
import type { CellLook, SheetArea, SheetCell } from '../../api/export-drafts.ts'

/** The laid-out cells above the data, each with its place and span. */
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

function lookOf({ bold, italic, underline, size, color, bgColor, align, vAlign }: CellLook): CSSProperties {
  return {
    ...(bold && { fontWeight: 640 }),
    ...(italic && { fontStyle: 'italic' }),
    ...(underline && { textDecoration: 'underline' }),
    ...(size !== undefined && { fontSize: `${Math.min(size, 18) * 1.18}px` }),
    ...(color !== undefined && { color: `#${color}` }),
    ...(bgColor !== undefined && { backgroundColor: `#${bgColor}` }),
    ...(align !== undefined && { textAlign: align }),
    ...(vAlign !== undefined && { verticalAlign: vAlign }),
  }
}
