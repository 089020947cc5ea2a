import type { CSSProperties } from 'react'
import type { CellLook, DataRow } from '../../../api/export-drafts.ts'
import { lookOf } from './cell-look.ts'

type Cell = DataRow['cells'][number]

interface DataProps {
  rows: DataRow[]
  styles: CellLook[]
  columns: number
}

/** The rows of data as the file has them. A place without a cell is empty. */
export function SheetDataRows({ rows, styles, columns }: DataProps) {
  const covered = coveredPlaces(rows)
  return rows.map(({ row, cells }) => {
    const byColumn = new Map(cells.map((cell) => [cell.column, cell]))
    return (
      <tr key={row}>
        <th scope="row">{row}</th>
        {Array.from({ length: columns }, (_, column) => {
          const cell = byColumn.get(column)
          if (!cell) return covered.has(`${row} ${column}`) ? null : <td key={column} />
          return (
            <td
              key={column}
              rowSpan={cell.rowSpan}
              colSpan={cell.columnSpan}
              style={lookOfCell(cell, styles[cell.style] ?? {})}
            >
              {cell.link === undefined ? cell.text : <u title={cell.link}>{cell.text}</u>}
            </td>
          )
        })}
      </tr>
    )
  })
}

/** Numbers and dates go to the right, booleans to the middle, where nothing else is said. */
const ALIGN = { number: 'right', date: 'right', boolean: 'center', text: 'left', empty: 'left' } as const

function lookOfCell({ type, color }: Cell, style: CellLook): CSSProperties {
  return {
    textAlign: ALIGN[type],
    whiteSpace: style.wrap ? 'pre-wrap' : 'pre',
    ...lookOf(style),
    ...(color !== undefined && { color: `#${color}` }),
  }
}

/** Places below merged cells. */
function coveredPlaces(rows: readonly DataRow[]): Set<string> {
  const places = new Set<string>()
  for (const { row, cells } of rows)
    for (const { column, rowSpan, columnSpan } of cells)
      for (let down = 0; down < rowSpan; down += 1)
        for (let right = 0; right < columnSpan; right += 1) places.add(`${row + down} ${column + right}`)
  return places
}
