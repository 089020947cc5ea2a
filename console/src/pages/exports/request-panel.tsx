import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { type ExportTask, getRequest, runAgain } from '../../api/exports.ts'
import { Problem } from '../../api/problem.ts'
import { MayChange } from '../../live/may-change.tsx'
import { useOnce } from '../../live/use-once.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { randomKey } from '../../parts/random-key.ts'
import { useToasts } from '../../parts/toasts.tsx'
import { RequestFacts } from './request-facts.tsx'
import './request.css'

/** What was asked for, and asking for it again: as it was, changed, or under a name. */
export function RequestPanel({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const [, go] = useLocation()
  const attempt = useRef(randomKey())
  const { data, error, refetch } = useQuery({
    queryKey: ['export', task.task_id, 'request'],
    queryFn: ({ signal }) => getRequest(task.task_id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const again = useOnce({
    mutationFn: () => runAgain(task.task_id, attempt.current),
    onSuccess: ({ task_id }) => go(`/exports/${task_id}`),
    onError: toasts.problem,
  })
  const isGone = error instanceof Problem && error.code === 'REQUEST_NOT_KEPT'
  const edit = `/exports/new?from=${encodeURIComponent(task.task_id)}`
  return (
    <Panel
      title={t('make.request.title')}
      extra={
        data && (
          <MayChange of="exports">
            <span className="request-actions">
              <Button onClick={() => again.mutate()} loading={again.isPending}>
                {t('make.request.again')}
              </Button>
              <Button onClick={() => go(edit)}>{t('make.request.edit')}</Button>
              <Button onClick={() => go(`${edit}&save`)}>{t('make.request.save')}</Button>
            </span>
          </MayChange>
        )
      }
    >
      {isGone && <p className="quiet">{t('make.request.gone')}</p>}
      {error && !isGone && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {data && <RequestFacts {...data} />}
    </Panel>
  )
}
