import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { listHistory } from '../../../api/exports.ts'
import type { Tone } from '../../../parts/table/pill.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { type Format, useFormat } from '../../../parts/text/format.ts'
import { waitText } from '../../../parts/text/wait-text.ts'
import { type HistoryEntry, historyEntries } from './history-entries.ts'

const TONES: Partial<Record<HistoryEntry['what'], Tone>> = {
  succeeded: 'ok',
  told: 'ok',
  failed: 'bad',
  untold: 'warn',
  waits: 'warn',
  interrupted: 'warn',
  fetching: 'busy',
  building: 'busy',
  uploading: 'busy',
}

/** What happened to it, oldest first: stages with begin and length, attempts with their errors, waits with their reasons. */
export function ExportHistory({ taskId }: { taskId: string }) {
  const { data = [] } = useQuery({
    queryKey: ['export', taskId, 'events'],
    queryFn: ({ signal }) => listHistory(taskId, signal),
  })
  return (
    <ol className="detail-history">
      {historyEntries(data).map((entry) => (
        <Entry key={entry.seq} entry={entry} />
      ))}
    </ol>
  )
}

function Entry({ entry }: { entry: HistoryEntry }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { at, what, ms, progress, failure, waitsFor, troubles = [] } = entry
  return (
    <li data-tone={TONES[what]}>
      <time dateTime={at} title={format.exact(at)}>
        {format.clock(at)}
      </time>
      <span className="detail-history-what">{t(`exports.history.${what}`)}</span>
      {ms !== undefined && ms !== null && (
        <span className="detail-history-length">{lengthOf(what, format.duration(ms), t)}</span>
      )}
      {progress && progress.fetched > 0 && <p>{rowsOf(progress, t, format)}</p>}
      {waitsFor && <p>{waitText(t, { what: waitsFor, ...failure })}</p>}
      {failure && <Why failure={failure} />}
      {troubles.map((trouble) => (
        <div key={trouble.at} className="detail-history-trouble">
          <p>
            {t(trouble.ms === null ? 'exports.history.trouble' : 'exports.history.trouble_over', {
              time: format.clock(trouble.at),
            })}
            {trouble.ms !== null && ` · ${format.duration(trouble.ms)}`}
          </p>
          <Why failure={trouble} />
        </div>
      ))}
    </li>
  )
}

/** Of a stage its length alone; of a wait, what was waited for. */
function lengthOf(what: HistoryEntry['what'], time: string, t: TFunction): string {
  if (what === 'requested' || what === 'again') return t('exports.history.in_queue', { time })
  return what === 'waits' || what === 'interrupted' ? t('exports.history.until_next', { time }) : time
}

function rowsOf(
  { fetched, total }: NonNullable<HistoryEntry['progress']>,
  t: TFunction,
  format: Format,
): string {
  const rows = format.number(fetched)
  if (total === null) return t('exports.rows', { count: fetched, rows })
  return t('exports.rows_of', { fetched: rows, total: format.number(total) })
}

function Why({ failure }: { failure: NonNullable<HistoryEntry['failure']> }) {
  return (
    <p>
      <FailureText error={failure} />
    </p>
  )
}
