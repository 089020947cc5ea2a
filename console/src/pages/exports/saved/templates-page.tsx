import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { listTemplates, type TemplateSummary } from '../../../api/saved.ts'
import { session } from '../../../api/session.ts'
import { useMayChange } from '../../../live/may-change.tsx'
import { addressOf } from '../../../live/page-address.ts'
import { useProject } from '../../../live/project.ts'
import { EmptyState } from '../../../parts/page/empty-state.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Cut } from '../../../parts/text/cut.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { useStore } from '../../../store.ts'
import { SavedTabs } from './saved-tabs.tsx'
import './saved.css'

/** Templates that exports use by name. */
export function TemplateListPage() {
  const { t } = useTranslation()
  const format = useFormat()
  const project = useProject()
  const projectId = project?.project_id
  const isAdmin = useStore(session)?.role === 'admin'
  const mayChange = useMayChange('exports')
  const { data, error, refetch } = useQuery({
    queryKey: ['templates', projectId],
    queryFn: ({ signal }) => listTemplates(projectId as string, signal),
    enabled: projectId !== undefined,
  })
  const columns: Column<TemplateSummary>[] = [
    {
      key: 'name',
      title: t('make.saved.name'),
      phone: 'bare',
      draw: ({ name }) => (
        <Link href={addressOf('/saved/templates', name)} className="exports-name">
          <Cut text={name} />
        </Link>
      ),
    },
    {
      key: 'version',
      title: t('make.template.version'),
      align: 'right',
      draw: ({ version }) => format.number(version),
    },
    { key: 'changed', title: t('make.template.changed'), draw: ({ updated_at }) => format.exact(updated_at) },
  ]
  return (
    <>
      <PageHead title={t('make.saved.title')} text={t('make.template.text')} />
      <Panel>
        <div className="saved-tabs">
          <SavedTabs here="templates" />
        </div>
        {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
        {data && data.length > 0 && (
          <DataTable
            label={t('make.saved.templates')}
            columns={columns}
            rows={data}
            rowKey={({ name }) => name}
          />
        )}
        {data?.length === 0 && (
          <EmptyState
            title={isAdmin ? t('make.template.none_in', { project: project?.name }) : t('make.template.none')}
            text={
              isAdmin
                ? t('make.saved.other_project')
                : t(mayChange ? 'make.template.none_text' : 'make.template.read')
            }
          />
        )}
      </Panel>
    </>
  )
}
