import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type ExportHistoryItem, listHistory } from '../../api/exports.ts'
import { useFormat } from '../../parts/format.ts'
import type { Tone } from '../../parts/pill.tsx'

const TONES: Record<string, Tone> = {
  'export.succeeded': 'ok',
  'export.failed': 'bad',
  'export.processing': 'busy',
}

/** What happened to it, oldest first; of many words of progress in one stage only the last is kept. */
export function ExportHistory({ taskId }: { taskId: string }) {
  const { t, i18n } = useTranslation()
  const format = useFormat()
  const { data = [] } = useQuery({
    queryKey: ['export', taskId, 'events'],
    queryFn: ({ signal }) => listHistory(taskId, signal),
  })
  const nameOf = ({ type, stage }: ExportHistoryItem) => {
    if (type === 'export.progress' && stage) return t(`exports.stage.${stage}`)
    const key = `exports.event.${type.replace('export.', '')}`
    return i18n.exists(key) ? i18n.t(key as 'exports.event.pending') : type
  }
  return (
    <ol className="detail-history">
      {shortened(data).map((item) => (
        <li key={item.seq} data-tone={TONES[item.type]}>
          <time dateTime={item.at} title={format.exact(item.at)}>
            {format.clock(item.at)}
          </time>
          {nameOf(item)}
          {item.progress?.total && item.progress.fetched > 0 && (
            <p>
              {t('exports.rows_of', {
                fetched: format.number(item.progress.fetched),
                total: format.number(item.progress.total),
              })}
            </p>
          )}
          {item.error && (
            <p>
              {item.error.message} <code>{item.error.code}</code>
            </p>
          )}
        </li>
      ))}
    </ol>
  )
}

function shortened(items: readonly ExportHistoryItem[]): ExportHistoryItem[] {
  return items.filter((item, index) => {
    const next = items[index + 1]
    return !(item.type === 'export.progress' && next?.type === item.type && next.stage === item.stage)
  })
}
