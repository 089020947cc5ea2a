import { useQuery } from '@tanstack/react-query'
import { Alert } from 'antd'
import { useTranslation } from 'react-i18next'
import { namesOf, warningsOf } from '../../../api/export-texts.ts'
import { type ExportTask, getExport } from '../../../api/exports.ts'
import { useMayChange } from '../../../live/may-change.tsx'
import { usePinnedProject } from '../../../live/project.ts'
import { BackLink } from '../../../parts/page/back-link.tsx'
import { DetailColumns } from '../../../parts/page/detail-columns.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { PageLoading } from '../../../parts/page/page-loading.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { ExportActions } from '../actions.tsx'
import { DeliveriesPanel } from './deliveries-panel.tsx'
import './detail.css'
import { ExportProgress } from '../progress.tsx'
import { sourceHint } from '../source-hint.ts'
import { StatusPill } from '../status-pill.tsx'
import { useExportCommands } from '../use-export-commands.ts'
import { useWarningText } from '../warning-text.ts'
import { DownloadsPanel } from './downloads-panel.tsx'
import { ExportFacts } from './facts.tsx'
import { ExportHistory } from './history.tsx'
import { ReportPanel } from './report-panel.tsx'
import { RequestPanel } from './request-panel.tsx'
import { WhyItWaits } from './why-it-waits.tsx'

/** One export: how it stands, why it waits, what happened to it, who was told and who fetched it. */
export function ExportDetailPage({ taskId }: { taskId: string }) {
  const { t } = useTranslation()
  const {
    data: task,
    error,
    refetch,
  } = useQuery({
    queryKey: ['export', taskId],
    queryFn: ({ signal }) => getExport(taskId, signal),
  })
  return (
    <>
      <BackLink href="/exports">{t('exports.title')}</BackLink>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!task && !error && <PageLoading />}
      {task && <Detail task={task} />}
    </>
  )
}

function Detail({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  useExportCommands(task)
  usePinnedProject(task.project_id)
  const { name, about } = namesOf(task)
  const warningText = useWarningText()
  const mayChange = useMayChange('exports')
  const gaveUp = task.status === 'failed' && task.attempts > 1
  const next = [
    sourceHint(t, task.error),
    gaveUp && t('exports.gave_up', { count: task.attempts }),
    gaveUp && mayChange && t('exports.gave_up_retry'),
  ]
    .filter(Boolean)
    .join(' ')
  return (
    <>
      <PageHead title={name} text={about}>
        <ExportActions task={task} words />
      </PageHead>
      <DetailColumns
        aside={
          <>
            <Panel title={t('exports.detail.facts')}>
              <ExportFacts task={task} />
            </Panel>
            <Panel title={t('exports.detail.history')}>
              <ExportHistory taskId={task.task_id} />
            </Panel>
          </>
        }
      >
        <Panel title={t('exports.column.status')} extra={<StatusPill task={task} />}>
          {(task.status === 'pending' || task.waiting_for) && <WhyItWaits task={task} />}
          {task.status !== 'pending' && task.status !== 'failed' && (
            <ExportProgress task={task} waits={false} />
          )}
          {task.error && <ProblemNote error={task.error} next={next} />}
          {warningsOf(task).map((warning) => (
            <Alert
              key={warning.message}
              className="detail-warning"
              type="warning"
              showIcon
              title={warningText(warning)}
            />
          ))}
        </Panel>
        <RequestPanel task={task} />
        <ReportPanel task={task} />
        <DownloadsPanel task={task} />
        <DeliveriesPanel task={task} />
      </DetailColumns>
    </>
  )
}
