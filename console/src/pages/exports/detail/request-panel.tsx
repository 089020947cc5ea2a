import { useQuery } from '@tanstack/react-query'
import { Button, Dropdown } from 'antd'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { type AgainDates, type ExportTask, getRequest, runAgain } from '../../../api/exports.ts'
import { Problem } from '../../../api/problem.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { addressOf } from '../../../live/page-address.ts'
import { useMadeOnce, useOnce } from '../../../live/use-once.ts'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { RequestFacts } from './request-facts.tsx'
import './request.css'

/** What was asked for, and asking for it again: as it was, changed, or under a name. */
export function RequestPanel({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const [, go] = useLocation()
  const { data, error, refetch } = useQuery({
    queryKey: ['export', task.task_id, 'request'],
    queryFn: ({ signal }) => getRequest(task.task_id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const make = useMadeOnce(([id, dates]: [string, AgainDates], attempt) => runAgain(id, dates, attempt))
  const again = useOnce({
    mutationFn: (dates: AgainDates) => make([task.task_id, dates]),
    onSuccess: ({ task_id }) => go(addressOf('/exports', task_id)),
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
              <AgainButton
                asks={data.written !== null}
                busy={again.isPending}
                onAgain={(dates) => again.mutate(dates)}
              />
              <Button onClick={() => go(edit)}>{t('make.request.edit')}</Button>
              <Button onClick={() => go(`${edit}&save`)}>{t('make.request.save')}</Button>
            </span>
          </MayChange>
        )
      }
    >
      {isGone && <p className="quiet">{t('make.request.gone')}</p>}
      {error && !isGone && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {data && <RequestFacts {...data} request={withoutOperator(data.request)} />}
      {data?.written && <p className="request-note">{t('make.request.words')}</p>}
    </Panel>
  )
}

/** What had words for dates can be asked for in two ways. */
function AgainButton({
  asks,
  busy,
  onAgain,
}: {
  asks: boolean
  busy: boolean
  onAgain(dates: AgainDates): void
}) {
  const { t } = useTranslation()
  const button = (
    <Button loading={busy} {...(!asks && { onClick: () => onAgain('same') })}>
      {t('make.request.again')}
    </Button>
  )
  if (!asks) return button
  const items = (['same', 'today'] as const).map((key) => ({ key, label: t(`make.request.again_${key}`) }))
  return (
    <Dropdown trigger={['click']} menu={{ items, onClick: ({ key }) => onAgain(key as AgainDates) }}>
      {button}
    </Dropdown>
  )
}

/** It is among the details of the export. */
function withoutOperator({ operator_id: _, ...request }: Record<string, unknown>) {
  return request
}
