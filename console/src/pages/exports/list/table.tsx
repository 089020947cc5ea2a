import { useTranslation } from 'react-i18next'
import type { ExportTask } from '../../../api/exports.ts'
import { type Ticked, useSelection } from '../../../parts/table/selection.tsx'
import { type WindowColumn, WindowTable } from '../../../parts/table/window-table.tsx'

interface Props {
  columns: readonly WindowColumn<ExportTask>[]
  count: number
  rowAt(index: number): ExportTask | undefined
  /** All that were read. */
  loaded(): ExportTask[]
  identity: string
  busy: boolean
  ended: boolean
  onView(first: number, last: number): void
  printed(first: number, last: number): string
  sort: string
  onSort(next: string): void
  /** Undefined: whoever looks on may change nothing. */
  selection: Ticked | undefined
}

export function ExportTable({ selection, loaded, ...table }: Props) {
  const { t } = useTranslation()
  const select = useSelection(selection, { loaded, keyOf, nameOf })
  return <WindowTable {...table} label={t('exports.title')} rowKey={keyOf} selection={select} />
}

const keyOf = ({ task_id }: ExportTask) => task_id
const nameOf = ({ file, file_name }: ExportTask) => file?.name ?? file_name
