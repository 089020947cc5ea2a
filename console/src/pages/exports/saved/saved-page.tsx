import { DeleteOutlined } from '@ant-design/icons'
import { useQuery } from '@tanstack/react-query'
import { Alert, Button } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { getSaved, type SavedExport } from '../../../api/saved.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { useProject } from '../../../live/project.ts'
import { Action } from '../../../parts/dialog/action.tsx'
import { BackLink } from '../../../parts/page/back-link.tsx'
import { DetailColumns } from '../../../parts/page/detail-columns.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { PageLoading } from '../../../parts/page/page-loading.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import '../detail/detail.css'
import '../detail/request.css'
import { RequestFacts } from '../detail/request-facts.tsx'
import { RunDialog } from './run-dialog.tsx'
import { RunsPanel } from './runs-panel.tsx'
import './saved.css'
import { SchedulePanel } from './schedule-panel.tsx'
import { useSavedActions } from './use-saved-actions.ts'

const AGAIN_MS = 5_000

/** One saved export: what it asks for, when it runs, how its runs went. */
export function SavedPage({ name }: { name: string }) {
  const { t } = useTranslation()
  const projectId = useProject()?.project_id
  const { data, error, refetch } = useQuery({
    queryKey: ['saved', projectId, name],
    queryFn: ({ signal }) => getSaved(projectId as string, name, signal),
    enabled: projectId !== undefined,
    refetchInterval: AGAIN_MS,
  })
  return (
    <>
      <BackLink href="/saved/exports">{t('make.saved.title')}</BackLink>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <PageLoading />}
      {data && projectId !== undefined && <Saved saved={data} projectId={projectId} />}
    </>
  )
}

function Saved({ saved, projectId }: { saved: SavedExport & { text: string }; projectId: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [, go] = useLocation()
  const [asking, setAsking] = useState(false)
  const { run, remove } = useSavedActions(projectId, saved.name)
  const hasParameters = Object.keys(saved.parameters).length > 0
  return (
    <>
      <PageHead title={saved.name}>
        <MayChange of="exports">
          <Button
            type="primary"
            loading={run.isPending}
            onClick={() => (hasParameters ? setAsking(true) : run.mutate({}))}
          >
            {t('make.saved.run')}
          </Button>
          <Button onClick={() => go(`/exports/new?saved=${encodeURIComponent(saved.name)}`)}>
            {t('make.saved.change')}
          </Button>
          <Action
            icon={<DeleteOutlined />}
            name={t('make.saved.delete')}
            words
            danger
            busy={remove.isPending}
            confirm={{ question: t('make.saved.delete_question'), keep: t('make.cancel') }}
            onClick={() => remove.mutate()}
          />
        </MayChange>
      </PageHead>
      {saved.failing && (
        <Alert
          className="make-note"
          type="error"
          showIcon
          title={t('make.saved.failing', { since: format.exact(saved.failing.since) })}
          description={<FailureText error={saved.failing} />}
        />
      )}
      <DetailColumns aside={<SchedulePanel saved={saved} projectId={projectId} />}>
        <Panel title={t('make.request.title')}>
          <RequestFacts request={saved.request} sealed={saved.sealed} text={saved.text} />
        </Panel>
        <RunsPanel projectId={projectId} name={saved.name} />
      </DetailColumns>
      {asking && (
        <RunDialog
          parameters={saved.parameters}
          isRunning={run.isPending}
          error={run.error}
          onRun={(parameters) => run.mutate(parameters)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
