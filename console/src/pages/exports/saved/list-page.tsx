import { PlusOutlined } from '@ant-design/icons'
import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'wouter'
import { listSaved, type SavedExport } from '../../../api/saved.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { useProject } from '../../../live/project.ts'
import { Cut } from '../../../parts/cut.tsx'
import { type Column, DataTable } from '../../../parts/data-table.tsx'
import { EmptyState } from '../../../parts/empty-state.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { Panel } from '../../../parts/panel.tsx'
import { ProblemNote } from '../../../parts/problem-note.tsx'
import { RelativeTime } from '../../../parts/relative-time.tsx'
import { RunPill } from './run-pill.tsx'
import { SavedTabs } from './saved-tabs.tsx'
import './saved.css'
import { useScheduleText } from './use-schedule-text.ts'

/** Requests under names: when each runs next, and how it went last. */
export function SavedListPage() {
  const { t } = useTranslation()
  const scheduleText = useScheduleText()
  const [, go] = useLocation()
  const projectId = useProject()?.project_id
  const { data, error, refetch } = useQuery({
    queryKey: ['saved', projectId],
    queryFn: ({ signal }) => listSaved(projectId as string, signal),
    enabled: projectId !== undefined,
    refetchInterval: 15_000,
  })
  const columns: Column<SavedExport>[] = [
    {
      key: 'name',
      title: t('make.saved.name'),
      phone: 'bare',
      draw: ({ name }) => (
        <Link href={`/saved/exports/${encodeURIComponent(name)}`} className="exports-name">
          <Cut text={name} />
        </Link>
      ),
    },
    { key: 'schedule', title: t('make.saved.schedule'), draw: ({ schedule }) => scheduleText(schedule) },
    {
      key: 'next',
      title: t('make.saved.next'),
      draw: ({ next_run_at }) => (next_run_at ? <RelativeTime at={next_run_at} /> : '–'),
    },
    { key: 'last', title: t('make.saved.last'), draw: (saved) => <LastRun saved={saved} /> },
  ]
  return (
    <>
      <PageHead title={t('make.saved.title')} text={t('make.saved.text')}>
        <MayChange of="exports">
          <Button type="primary" icon={<PlusOutlined />} onClick={() => go('/exports/new')}>
            {t('exports.new_export')}
          </Button>
        </MayChange>
      </PageHead>
      <Panel>
        <div className="saved-tabs">
          <SavedTabs here="exports" />
        </div>
        {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
        {data && data.length > 0 && (
          <DataTable
            label={t('make.saved.title')}
            columns={columns}
            rows={data}
            rowKey={({ name }) => name}
          />
        )}
        {data?.length === 0 && (
          <EmptyState title={t('make.saved.none')} text={t('make.saved.none_text')}>
            <MayChange of="exports">
              <Button type="primary" onClick={() => go('/exports/new?sample')}>
                {t('make.saved.try_sample')}
              </Button>
            </MayChange>
          </EmptyState>
        )}
      </Panel>
    </>
  )
}

function LastRun({ saved: { last_run, failing } }: { saved: SavedExport }) {
  if (!last_run) return failing ? <span className="exports-sub">{failing.message}</span> : '–'
  return (
    <span className="saved-last">
      <RunPill run={last_run} />
      <span className="exports-sub">
        <RelativeTime at={last_run.created_at} />
      </span>
    </span>
  )
}
