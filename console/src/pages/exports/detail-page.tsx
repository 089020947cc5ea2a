import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { getExport } from '../../api/exports.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLoading } from '../../parts/page-loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { ExportActions } from './actions.tsx'
import { ExportProgress } from './progress.tsx'
import { StatusPill } from './status-pill.tsx'

/** One export: how it stands, why it waits, what happened to it, who was told and who fetched it. */
export function ExportDetailPage({ taskId }: { taskId: string }) {
  const { t } = useTranslation()
  const { data: task, error } = useQuery({
    queryKey: ['export', taskId],
    queryFn: ({ signal }) => getExport(taskId, signal),
  })
  if (error) return <ProblemNote error={error} />
  if (!task) return <PageLoading />
  return (
    <>
      <PageHead title={task.file?.name ?? task.file_name}>
        <ExportActions task={task} words />
      </PageHead>
      <Panel title={t('exports.column.status')} extra={<StatusPill task={task} />}>
        <ExportProgress task={task} />
      </Panel>
    </>
  )
}
