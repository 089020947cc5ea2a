import type { ReactNode } from 'react'
import './data-table.css'

export interface Column<T> {
  key: string
  title: string
  /** Numbers stand at the right, so that their digits stand below one another. */
  align?: 'right'
  /** On a phone: not shown with its title, or not shown at all. */
  phone?: 'bare' | 'hidden'
  width?: number
  draw(row: T): ReactNode
}

interface Props<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey(row: T): string
  busy?: boolean
}

/** A plain table; on a phone each row is a card. */
export function DataTable<T>({ label, columns, rows, rowKey, busy = false }: Props<T>) {
  return (
    <table className="data-table" aria-label={label} aria-busy={busy}>
      <thead>
        <tr>
          {columns.map(({ key, title, align, width }) => (
            <th key={key} scope="col" data-align={align} style={width === undefined ? undefined : { width }}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} data-row={rowKey(row)}>
            {columns.map(({ key, title, align, phone, draw }) => (
              <td key={key} data-align={align} data-phone={phone} data-title={title}>
                {draw(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
