import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { getTaskEvents, type TaskStatus } from '../../api/tasks.ts'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { TASK_KEY } from './patch.ts'
import { TaskPill } from './task-table.tsx'

/** The states that a task came into, and when. */
export function TaskEvents({ taskId }: { taskId: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data, error } = useQuery({
    queryKey: [...TASK_KEY, taskId, 'events'],
    queryFn: ({ signal }) => getTaskEvents(taskId, signal),
  })
  if (error) return <ProblemNote error={error} />
  const known = (data?.items ?? []).filter(({ status }) => status !== undefined)
  return (
    <ol className="task-events" aria-label={t('processing.detail.history')}>
      {known.map(({ seq, at, status }) => (
        <li key={seq}>
          <TaskPill status={status as TaskStatus} />
          <time dateTime={String(at)} title={format.exact(String(at))}>
            {format.clock(String(at))}
          </time>
        </li>
      ))}
    </ol>
  )
}
