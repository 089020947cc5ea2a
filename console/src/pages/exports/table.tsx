import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { ExportTask } from '../../api/exports.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useFormat } from '../../parts/format.ts'
import { ExportActions } from './actions.tsx'
import { ExportProgress } from './progress.tsx'
import { StatusPill } from './status-pill.tsx'

export function ExportTable({ rows, busy }: { rows: readonly ExportTask[]; busy: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const columns: Column<ExportTask>[] = [
    {
      key: 'file',
      title: t('exports.column.file'),
      width: 230,
      phone: 'bare',
      draw: (task) => (
        <>
          <Link href={`/exports/${task.task_id}`} className="exports-name">
            {task.file?.name ?? task.file_name}
          </Link>
          <span className="exports-sub">
            {t(`exports.type.${task.type}`)}
            {task.operator_id !== null && ` · ${task.operator_id}`}
          </span>
        </>
      ),
    },
    { key: 'status', title: t('exports.column.status'), draw: (task) => <StatusPill task={task} /> },
    {
      key: 'progress',
      title: t('exports.column.progress'),
      phone: 'bare',
      draw: (task) => <ExportProgress task={task} />,
    },
    {
      key: 'created',
      title: t('exports.column.created'),
      draw: ({ created_at }) => (
        <time dateTime={created_at} title={format.exact(created_at)}>
          {format.moment(created_at)}
        </time>
      ),
    },
    {
      key: 'actions',
      title: t('exports.column.actions'),
      align: 'right',
      phone: 'bare',
      draw: (task) => <ExportActions task={task} />,
    },
  ]
  return (
    <DataTable
      label={t('exports.title')}
      columns={columns}
      rows={rows}
      rowKey={({ task_id }) => task_id}
      busy={busy}
    />
  )
}
