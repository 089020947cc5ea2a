import { useTranslation } from 'react-i18next'
import type { ExportTask } from '../../api/exports.ts'
import { type Selection, type WindowColumn, WindowTable } from '../../parts/window-table.tsx'

interface Props {
  columns: readonly WindowColumn<ExportTask>[]
  count: number
  rowAt(index: number): ExportTask | undefined
  /** All that were read. */
  loaded(): ExportTask[]
  identity: string
  busy: boolean
  onView(first: number, last: number): void
  sort: string
  onSort(next: string): void
  /** Undefined: whoever looks on may change nothing. */
  selection: ExportSelection | undefined
}

interface ExportSelection {
  chosen: ReadonlySet<string>
  everything: boolean
  onChange(chosen: ReadonlySet<string>): void
}

export function ExportTable({ selection, loaded, ...table }: Props) {
  const { t } = useTranslation()
  const select = ({ chosen, everything, onChange }: ExportSelection): Selection<ExportTask> => ({
    label: t('lists.select_all'),
    labelOf: (row) => t('lists.select_row', { name: nameOf(row) }),
    has: (key) => everything || chosen.has(key),
    toggle(key, on) {
      const next = new Set(everything ? loaded().map(keyOf) : chosen)
      if (on) next.add(key)
      else next.delete(key)
      onChange(next)
    },
    all: everything || (chosen.size > 0 && (chosen.size >= loaded().length || 'some')),
    toggleAll: (on) => onChange(new Set(on ? loaded().map(keyOf) : [])),
  })
  return (
    <WindowTable
      {...table}
      label={t('exports.title')}
      rowKey={keyOf}
      selection={selection && select(selection)}
    />
  )
}

const keyOf = ({ task_id }: ExportTask) => task_id
const nameOf = ({ file, file_name }: ExportTask) => file?.name ?? file_name
