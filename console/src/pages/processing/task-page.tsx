import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { getTask, type Task } from '../../api/tasks.ts'
import { addressOf } from '../../live/page-address.ts'
import { BackLink } from '../../parts/page/back-link.tsx'
import { DetailColumns, FactList } from '../../parts/page/detail-columns.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { PageLoading } from '../../parts/page/page-loading.tsx'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { FailureText } from '../../parts/text/failure.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { TASK_KEY } from './patch.ts'
import './processing.css'
import { TaskActions } from './task-actions.tsx'
import { TaskEvents } from './task-events.tsx'
import { TaskLogView } from './task-log.tsx'
import { Standing, TaskPill } from './task-table.tsx'

/** Progress and output are no events: while something is at work they are asked for. */
const AGAIN_MS = 2_000

/** One task: how it stands, what its processor printed, and what can be done about it. */
export function TaskPage({ taskId }: { taskId: string }) {
  const { t } = useTranslation()
  const {
    data: task,
    error,
    refetch,
  } = useQuery({
    queryKey: [...TASK_KEY, taskId],
    queryFn: ({ signal }) => getTask(taskId, signal),
    refetchInterval: ({ state: { data } }) => (data?.status === 'PROCESSING' ? AGAIN_MS : false),
  })
  return (
    <>
      <BackLink href="/processing">{t('processing.title')}</BackLink>
      {error && !task && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!task && !error && <PageLoading />}
      {task && <Detail task={task} />}
    </>
  )
}

function Detail({ task }: { task: Task }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  return (
    <>
      <PageHead title={task.file_name}>
        <TaskActions
          task={task}
          whole
          onRetried={({ task_id }) => go(addressOf('/processing', task_id))}
          onDeleted={() => go('/processing')}
        />
      </PageHead>
      <DetailColumns
        aside={
          <>
            <Panel title={t('processing.detail.facts')}>
              <Facts task={task} />
            </Panel>
            <Panel title={t('processing.detail.history')}>
              <TaskEvents taskId={task.task_id} />
            </Panel>
          </>
        }
      >
        <Panel title={t('processing.detail.status')} extra={<TaskPill status={task.status} />}>
          {task.status === 'FAILED' ? (
            <pre className="task-error">{task.error_message}</pre>
          ) : (
            <Standing task={task} />
          )}
          {task.waiting_for && (
            <p className="task-error">
              <FailureText error={task.waiting_for} />
            </p>
          )}
        </Panel>
        <Panel title={t('processing.detail.log')}>
          <TaskLogView taskId={task.task_id} working={task.status === 'PROCESSING'} />
        </Panel>
      </DetailColumns>
    </>
  )
}

function Facts({ task }: { task: Task }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { created_at, updated_at, expires_at } = task
  const ended = task.status === 'COMPLETED' || task.status === 'FAILED'
  const facts = {
    file: task.file_name,
    size: format.bytes(task.size),
    result: task.result_url === null ? t('processing.detail.no_result') : t('processing.ready'),
    created: format.exact(created_at),
    updated: format.exact(updated_at),
    took: ended ? format.duration(Math.max(0, Date.parse(updated_at) - Date.parse(created_at))) : '–',
    expires: expires_at === null ? '–' : format.exact(expires_at),
    id: task.task_id,
  }
  return (
    <FactList
      facts={(Object.keys(facts) as (keyof typeof facts)[]).map((name) => [
        t(`processing.detail.${name}`),
        facts[name],
      ])}
    />
  )
}
