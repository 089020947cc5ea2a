import { useTranslation } from 'react-i18next'
import { warningsOf } from '../../../api/export-texts.ts'
import type { ExportTask } from '../../../api/exports.ts'
import { ProgressBar } from '../../../parts/table/progress-bar.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { waitText } from '../../../parts/text/wait-text.ts'
import { useWarningText } from '../warning-text.ts'

/** What came of an export, or how far it is, in one line. */
export function RowResult({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  const format = useFormat()
  const warningText = useWarningText()
  const { status, file, error, progress } = task
  if (status === 'failed' && error)
    return (
      <span className="exports-row-error">
        <FailureText error={error} line />
      </span>
    )
  if (file)
    return (
      <span className="exports-row-quiet">
        {t('exports.rows', { count: file.rows, rows: format.number(file.rows) })}
        {file.parts > 1 && ` · ${t('exports.parts', { parts: file.parts })}`}
        {task.download_url === null && ` · ${t('exports.no_file')}`}
        {task.warnings.length > 0 && (
          <span title={warningsOf(task).map(warningText).join('\n')}>
            {' '}
            · {t('lists.warnings', { count: task.warnings.length })}
          </span>
        )}
      </span>
    )
  if (status === 'cancelled') return <span className="exports-row-quiet">{t('exports.no_file')}</span>
  if (status === 'pending')
    return (
      <span className="exports-row-quiet">
        {task.waiting_for ? waitText(t, task.waiting_for) : t('exports.waits')}
      </span>
    )
  const { fetched, total } = progress
  return (
    <span className="exports-row-progress">
      <ProgressBar label={t('lists.column.result')} fraction={total ? fetched / total : null} />
      <span>
        {total === null
          ? t('exports.rows', { count: fetched, rows: format.number(fetched) })
          : t('exports.rows_of', { fetched: format.number(fetched), total: format.number(total) })}
      </span>
    </span>
  )
}
