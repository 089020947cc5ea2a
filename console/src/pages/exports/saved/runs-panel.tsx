import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { listSavedRuns, type SavedRun } from '../../../api/saved.ts'
import { addressOf } from '../../../live/page-address.ts'
import { Panel } from '../../../parts/page/panel.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { RunPill } from './run-pill.tsx'

const AGAIN_MS = 5_000

/** How the runs of a saved export went, newest first. */
export function RunsPanel({ projectId, name }: { projectId: string; name: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data } = useQuery({
    queryKey: ['saved', projectId, name, 'runs'],
    queryFn: ({ signal }) => listSavedRuns(projectId, name, signal),
    refetchInterval: AGAIN_MS,
  })
  const columns: Column<SavedRun>[] = [
    {
      key: 'at',
      title: t('make.saved.at'),
      draw: ({ task_id, created_at }) =>
        task_id === null ? (
          format.exact(created_at)
        ) : (
          <Link href={addressOf('/exports', task_id)}>{format.exact(created_at)}</Link>
        ),
    },
    { key: 'by', title: t('make.saved.by'), draw: ({ by }) => t(`make.saved.by_${by}`) },
    {
      key: 'status',
      title: t('exports.column.status'),
      draw: (run) => (
        <div>
          <RunPill run={run} />
          {run.error && (
            <p className="exports-sub">
              <FailureText error={run.error} />
            </p>
          )}
        </div>
      ),
    },
    {
      key: 'parameters',
      title: t('make.saved.parameters'),
      draw: ({ parameters }) =>
        Object.entries(parameters)
          .map(([one, value]) => `${one}: ${value}`)
          .join(', ') || '–',
    },
  ]
  return (
    <Panel title={t('make.saved.runs')}>
      {data?.length === 0 && <p className="quiet">{t('make.saved.no_runs')}</p>}
      {data && data.length > 0 && (
        <DataTable
          label={t('make.saved.runs')}
          columns={columns}
          rows={data}
          rowKey={({ run_id }) => run_id}
        />
      )}
    </Panel>
  )
}
