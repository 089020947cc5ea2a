import { useTranslation } from 'react-i18next'
import type { ExportTask } from '../../api/exports.ts'
import { ProgressBar } from '../../parts/table/progress-bar.tsx'
import { FailureText } from '../../parts/text/failure.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { waitText } from '../../parts/text/wait-text.ts'
import { exportRates } from './patch.ts'

/** Rows of total, how fast, and how long it will take; at the end what has become of it. */
export function ExportProgress({ task, waits = true }: { task: ExportTask; waits?: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { progress, status, file, error } = task
  if (status === 'failed' && error)
    return (
      <span className="exports-sub exports-error">
        <FailureText error={error} line />
      </span>
    )
  if (file)
    return (
      <span className="exports-sub">
        {t('exports.rows', { count: file.rows, rows: format.number(file.rows) })} · {format.bytes(file.size)}
        {file.parts > 1 && ` · ${t('exports.parts', { parts: file.parts })}`}
      </span>
    )
  if (status === 'cancelled') return <span className="exports-sub">{t('exports.no_file')}</span>
  if (status === 'pending')
    return (
      <span className="exports-sub">
        {task.waiting_for ? waitText(t, task.waiting_for) : t('exports.waits')}
      </span>
    )
  const { fetched } = progress
  // Nothing of nothing: the source has not said yet how much there is.
  const total = progress.total === 0 && fetched === 0 ? null : progress.total
  const isFetching = task.stage === 'fetching' && !task.waiting_for
  const perSecond = isFetching ? exportRates.perSecond(task.task_id) : null
  const left =
    perSecond && total !== null && fetched < total ? Math.ceil((total - fetched) / perSecond) * 1_000 : null
  return (
    <div className="exports-progress">
      <ProgressBar label={t('exports.column.progress')} fraction={total ? fetched / total : null} />
      <small>
        <span>
          {total === null
            ? t('exports.rows', { count: fetched, rows: format.number(fetched) })
            : t('exports.rows_of', { fetched: format.number(fetched), total: format.number(total) })}
        </span>
        <span>
          {perSecond !== null && t('exports.rate', { rate: format.number(Math.round(perSecond)) })}
          {left !== null && ` · ${t('exports.left', { time: format.duration(left) })}`}
        </span>
      </small>
      {waits && task.waiting_for && <small className="exports-waits">{waitText(t, task.waiting_for)}</small>}
    </div>
  )
}
