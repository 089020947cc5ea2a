import { useQuery } from '@tanstack/react-query'
import { Alert } from 'antd'
import { useTranslation } from 'react-i18next'
import { type ExportTask, getExport } from '../../api/exports.ts'
import { BackLink } from '../../parts/back-link.tsx'
import { DetailColumns } from '../../parts/detail-columns.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLoading } from '../../parts/page-loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { ExportActions } from './actions.tsx'
import { DeliveriesPanel } from './deliveries-panel.tsx'
import './detail.css'
import { DownloadsPanel } from './downloads-panel.tsx'
import { ExportFacts } from './facts.tsx'
import { ExportHistory } from './history.tsx'
import { ExportProgress } from './progress.tsx'
import { ReportPanel } from './report-panel.tsx'
import { RequestPanel } from './request-panel.tsx'
import { StatusPill } from './status-pill.tsx'
import { useExportCommands } from './use-export-commands.ts'
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
  return (
    <>
      <PageHead title={task.file?.name ?? task.file_name}>
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
          {task.error && <ProblemNote error={task.error} />}
          {task.warnings.map((warning) => (
            <Alert key={warning} className="detail-warning" type="warning" showIcon title={warning} />
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
