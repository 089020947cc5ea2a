import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { Task, TaskStatus } from '../../api/tasks.ts'
import { addressOf } from '../../live/page-address.ts'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { Pill, type Tone } from '../../parts/table/pill.tsx'
import { ProgressBar } from '../../parts/table/progress-bar.tsx'
import { Cut } from '../../parts/text/cut.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { TaskActions } from './task-actions.tsx'

const TONES: Record<TaskStatus, Tone> = {
  PENDING: 'wait',
  PROCESSING: 'busy',
  COMPLETED: 'ok',
  FAILED: 'bad',
}

export function TaskTable({ tasks, busy }: { tasks: readonly Task[]; busy: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const columns: Column<Task>[] = [
    {
      key: 'file',
      title: t('processing.column.file'),
      phone: 'bare',
      draw: ({ task_id, file_name, size }) => (
        <div className="processing-file">
          <Link href={addressOf('/processing', task_id)}>
            <Cut text={file_name} />
          </Link>
          <span className="processing-sub">{format.bytes(size)}</span>
        </div>
      ),
    },
    {
      key: 'status',
      title: t('processing.column.status'),
      width: 130,
      draw: ({ status }) => <TaskPill status={status} />,
    },
    {
      key: 'progress',
      title: t('processing.column.progress'),
      phone: 'bare',
      width: 260,
      draw: (task) => <Standing task={task} />,
    },
    {
      key: 'created',
      title: t('processing.column.created'),
      align: 'right',
      width: 120,
      draw: ({ created_at }) => (
        <time dateTime={created_at} title={format.exact(created_at)}>
          {format.moment(created_at)}
        </time>
      ),
    },
    {
      key: 'actions',
      title: t('processing.column.actions'),
      align: 'right',
      phone: 'bare',
      width: 220,
      draw: (task) => <TaskActions task={task} />,
    },
  ]
  return (
    <DataTable
      label={t('processing.tasks')}
      columns={columns}
      rows={tasks}
      rowKey={({ task_id }) => task_id}
      busy={busy}
    />
  )
}

export function TaskPill({ status }: { status: TaskStatus }) {
  const { t } = useTranslation()
  return <Pill tone={TONES[status]}>{t(`processing.status.${status}`)}</Pill>
}

export function Standing({ task: { status, progress, error_message, expires_at } }: { task: Task }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (status === 'PROCESSING')
    return (
      <div className="processing-standing">
        <ProgressBar label={t('processing.works')} fraction={progress} />
        <span className="processing-sub">
          {progress === null ? t('processing.works') : format.percent(progress)}
        </span>
      </div>
    )
  if (status === 'FAILED') return <span className="processing-sub processing-error">{error_message}</span>
  if (status === 'PENDING') return <span className="processing-sub">{t('processing.waits')}</span>
  return (
    <span className="processing-sub">
      {t('processing.ready')}
      {expires_at !== null && ` · ${t('processing.kept_until', { time: format.moment(expires_at) })}`}
    </span>
  )
}
