import type { ReactNode } from 'react'
import './data-table.css'
import { Check, type Selection, TickAll } from './selection.tsx'

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
  selection?: Selection<T> | undefined
}

/** A plain table; on a phone each row is a card. */
export function DataTable<T>({ label, columns, rows, rowKey, busy = false, selection }: Props<T>) {
  return (
    <table className="data-table" aria-label={label} aria-busy={busy}>
      <thead>
        <tr>
          {selection && (
            <th scope="col" className="data-table-check">
              <TickAll selection={selection} />
            </th>
          )}
          {columns.map(({ key, title, align, width }) => (
            <th key={key} scope="col" data-align={align} style={width === undefined ? undefined : { width }}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} data-row={rowKey(row)} data-selected={selection?.has(rowKey(row))}>
            {selection && (
              <td className="data-table-check">
                <Check
                  label={selection.labelOf(row)}
                  on={selection.has(rowKey(row))}
                  onChange={(on) => selection.toggle(rowKey(row), on)}
                />
              </td>
            )}
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
