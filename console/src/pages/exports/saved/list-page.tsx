import { PlusOutlined } from '@ant-design/icons'
import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'wouter'
import { listSaved, type SavedExport } from '../../../api/saved.ts'
import { session } from '../../../api/session.ts'
import { MayChange, useMayChange } from '../../../live/may-change.tsx'
import { addressOf } from '../../../live/page-address.ts'
import { useProject } from '../../../live/project.ts'
import { EmptyState } from '../../../parts/page/empty-state.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Cut } from '../../../parts/text/cut.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { RelativeTime } from '../../../parts/text/relative-time.tsx'
import { useStore } from '../../../store.ts'
import { ownTimeZone } from '../make/fields/time-zone-select.tsx'
import { RunPill } from './run-pill.tsx'
import { SavedTabs } from './saved-tabs.tsx'
import './saved.css'
import { useScheduleText } from './use-schedule-text.ts'

/** Requests under names: when each runs next, and how it went last. */
export function SavedListPage() {
  const { t } = useTranslation()
  const scheduleText = useScheduleText()
  const [, go] = useLocation()
  const project = useProject()
  const projectId = project?.project_id
  const isAdmin = useStore(session)?.role === 'admin'
  const mayChange = useMayChange('exports')
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
        <Link href={addressOf('/saved/exports', name)} className="exports-name">
          <Cut text={name} />
        </Link>
      ),
    },
    { key: 'schedule', title: t('make.saved.schedule'), draw: ({ schedule }) => scheduleText(schedule) },
    {
      key: 'next',
      title: t('make.saved.next'),
      draw: ({ next_run_at, schedule }) =>
        next_run_at && schedule ? <NextRun at={next_run_at} timezone={schedule.timezone} /> : '–',
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
          <EmptyState
            title={isAdmin ? t('make.saved.none_in', { project: project?.name }) : t('make.saved.none')}
            text={
              isAdmin
                ? t('make.saved.other_project')
                : t(mayChange ? 'make.saved.none_text' : 'make.saved.read')
            }
          >
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

/** On the clock that the schedule beside it goes by; the reader's own on hover. */
function NextRun({ at, timezone }: { at: string; timezone: string }) {
  const { i18n } = useTranslation()
  const format = useFormat()
  const zoned = new Intl.DateTimeFormat(i18n.language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone: timezone,
  })
  return (
    <time dateTime={at} title={`${format.exact(at)} (${ownTimeZone()})`}>
      {zoned.format(new Date(at))} <span className="exports-sub">{timezone}</span>
    </time>
  )
}

function LastRun({ saved: { last_run, failing } }: { saved: SavedExport }) {
  if (!last_run) return failing ? <FailureText error={failing} line /> : '–'
  return (
    <span className="saved-last">
      <RunPill run={last_run} />
      <span className="exports-sub">
        <RelativeTime at={last_run.created_at} />
      </span>
    </span>
  )
}
