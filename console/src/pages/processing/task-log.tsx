import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { getTaskLog } from '../../api/tasks.ts'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { TASK_KEY } from './patch.ts'

const AGAIN_MS = 2_000
/** The server keeps these many from the beginning, and then the end. */
const FIRST_LINES = 100

/** What the processor printed. */
export function TaskLogView({ taskId, working }: { taskId: string; working: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data, error } = useQuery({
    queryKey: [...TASK_KEY, taskId, 'log'],
    queryFn: ({ signal }) => getTaskLog(taskId, signal),
    refetchInterval: working ? AGAIN_MS : false,
  })
  if (error) return <ProblemNote error={error} />
  if (!data) return null
  const { items, left_out } = data
  if (items.length === 0) return <p className="quiet">{t('processing.detail.log_empty')}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys.
    <ol className="task-log" tabIndex={0} aria-label={t('processing.detail.log')}>
      {items.map(({ at, stream, line }, index) => (
        // Lines have nothing of their own to be told apart by but their place.
        <li key={`${index} ${at}`} data-stream={stream}>
          <time dateTime={at} title={format.exact(at)}>
            {format.clock(at)}
          </time>
          <span>{line}</span>
          {index === FIRST_LINES - 1 && left_out > 0 && (
            <i className="task-log-gap">{t('processing.detail.left_out', { count: left_out })}</i>
          )}
        </li>
      ))}
    </ol>
  )
}
