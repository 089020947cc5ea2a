import { PlusOutlined } from '@ant-design/icons'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { type ExportFilter, listExports } from '../../api/exports.ts'
import { useProject } from '../../live/project.ts'
import { useShowMore } from '../../live/show-more.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useAddressFilter } from './address-filter.ts'
import { ExportFilters } from './filters.tsx'
import { ExportTable } from './table.tsx'

/** A project's exports, newest first, as they move. */
export function ExportListPage() {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const project = useProject()
  const [filter, setFilter] = useAddressFilter()
  const projectId = project?.project_id
  const queryKey = ['exports', projectId, filter]
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      listExports(projectId as string, filter, { cursor: pageParam, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    enabled: projectId !== undefined,
    placeholderData: keepPreviousData,
  })
  const showMore = useShowMore(list, queryKey)
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <PageHead title={t('exports.title')} text={t('exports.text')}>
        <Button type="primary" icon={<PlusOutlined />} onClick={() => go('/exports/new')}>
          {t('exports.new_export')}
        </Button>
      </PageHead>
      <Panel>
        <ExportFilters filter={filter} onChange={setFilter} />
        {list.error && <ProblemNote error={list.error} onRetry={() => void list.refetch()} />}
        {rows.length > 0 && <ExportTable rows={rows} busy={list.isFetching} />}
        {rows.length === 0 && list.isSuccess && (
          <NothingThere filter={filter} onClear={() => setFilter({})} />
        )}
        {list.hasNextPage && (
          <div className="exports-more">
            <Button loading={list.isFetchingNextPage} onClick={showMore}>
              {t('exports.more')}
            </Button>
          </div>
        )}
      </Panel>
    </>
  )
}

function NothingThere({ filter, onClear }: { filter: ExportFilter; onClear(): void }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  if (filter.status || filter.operator_id || filter.search)
    return (
      <EmptyState title={t('exports.no_match.title')} text={t('exports.no_match.text')}>
        <Button onClick={onClear}>{t('exports.no_match.clear')}</Button>
      </EmptyState>
    )
  return (
    <EmptyState title={t('exports.empty.title')} text={t('exports.empty.text')}>
      <Button type="primary" onClick={() => go('/exports/new?sample')}>
        {t('exports.empty.sample')}
      </Button>
    </EmptyState>
  )
}
