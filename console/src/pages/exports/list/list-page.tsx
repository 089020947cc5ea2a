import { PlusOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { Suspense, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import {
  type ExportFilter,
  type ExportPage,
  type ExportTask,
  listExports,
  PAGE_ROWS,
} from '../../../api/exports.ts'
import { session } from '../../../api/session.ts'
import { useKeptChoice } from '../../../live/kept-choice.ts'
import { lazyPart } from '../../../live/lazy-part.ts'
import { MayChange, useMayChange } from '../../../live/may-change.tsx'
import { chooseProject } from '../../../live/project.ts'
import { useWindowPages } from '../../../live/window-pages.ts'
import { totalText } from '../../../parts/bulk/total-text.ts'
import { EmptyState } from '../../../parts/page/empty-state.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { PageLoading } from '../../../parts/page/page-loading.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { useStore } from '../../../store.ts'
import { askedOf, isFiltered, type ListFilter, useAddressFilter, usualSort } from './address-filter.ts'
import { CHOICES, USUAL, useColumns } from './columns.tsx'
import { ExportFilters } from './filters.tsx'
import { ExportTable } from './table.tsx'
import '../exports.css'
import './list.css'

// After the rows: the first view does not wait for what is done with them.
const ColumnChoice = lazyPart(async () => (await import('./column-menu.tsx')).ColumnMenu)
const ExportBulk = lazyPart(async () => (await import('./bulk-bar.tsx')).ExportBulk)

const NONE: ReadonlySet<string> = new Set()

/** An event changes a row before the list is read again. */
const fits = ({ status }: ExportTask, asked: ExportFilter) =>
  asked.status === undefined || asked.status === status

/** Exports as they move: of one project, or of all. */
export function ExportListPage() {
  const { t } = useTranslation()
  const format = useFormat()
  const [, go] = useLocation()
  const [filter, setFilter] = useAddressFilter()
  const asked = useMemo(() => askedOf(filter), [filter])
  const sort = filter.sort ?? usualSort(filter)
  const current = useStore(session)
  const mayChange = useMayChange('exports')
  const wide = current?.role === 'admin' && filter.project_id === undefined
  const list = useWindowPages<ExportTask, ExportPage>({
    queryKey: ['exports', { ...asked, sort }],
    size: PAGE_ROWS,
    read: (cursor, signal) => listExports({ ...asked, sort }, { cursor, signal }),
    enabled: true,
  })
  const [chosenColumns, chooseColumns] = useKeptChoice('wharf.columns.exports', CHOICES, USUAL)
  const columns = useColumns(chosenColumns, { wide, ended: filter.ended !== undefined })
  const identity = JSON.stringify([asked, sort])
  const [selection, setSelection] = useState({ identity, chosen: NONE, everything: false })
  // What was ticked in another list is not meant here.
  const { chosen: ticks, everything } =
    selection.identity === identity ? selection : { chosen: NONE, everything: false }
  const rows = useTickedRows(ticks, list).filter((task) => fits(task, asked))
  const chosen: ReadonlySet<string> = new Set(rows.map(({ task_id }) => task_id))
  const total = list.start?.total
  // It stays: what was begun goes on when nothing is selected any more.
  const [ticked, setTicked] = useState(false)
  const startNew = () => {
    if (filter.project_id !== undefined) chooseProject(filter.project_id)
    go('/exports/new')
  }
  return (
    <div className="list-page">
      <PageHead title={t('exports.title')} text={t('exports.text')}>
        <MayChange of="exports">
          <Button type="primary" icon={<PlusOutlined />} onClick={startNew}>
            {t('exports.new_export')}
          </Button>
        </MayChange>
      </PageHead>
      <section className="list-panel">
        <div className="list-tools">
          <ExportFilters filter={filter} onChange={setFilter} />
          <span className="list-total" aria-live="polite">
            {total && t('lists.total', { count: total.count, shown: totalText(total, format.number) })}
          </span>
          <Suspense>
            <ColumnChoice wide={wide} chosen={chosenColumns} onChange={chooseColumns} />
          </Suspense>
        </div>
        {ticked && (
          <Suspense>
            <ExportBulk
              selected={chosen}
              rows={rows}
              everything={everything}
              total={total}
              filter={asked}
              onEverything={() => setSelection({ identity, chosen, everything: true })}
              onClear={() => setSelection({ identity, chosen: NONE, everything: false })}
            />
          </Suspense>
        )}
        {list.error && <ProblemNote error={list.error} onRetry={list.refetch} />}
        {list.count === 0 && !list.isSuccess && !list.error && <PageLoading />}
        {list.count > 0 && (
          <ExportTable
            columns={columns}
            count={list.count}
            rowAt={list.rowAt}
            loaded={list.loaded}
            identity={identity}
            busy={list.isFetching}
            ended={list.ended}
            onView={list.show}
            printed={(first, last) =>
              t('lists.printed', {
                first: format.number(first),
                last: format.number(last),
                total: totalText(total ?? { count: list.count, exact: list.ended }, format.number),
              })
            }
            sort={sort}
            onSort={(next) => setFilter({ ...filter, sort: next === usualSort(filter) ? undefined : next })}
            selection={
              mayChange
                ? {
                    chosen,
                    everything,
                    onChange: (next) => {
                      setTicked(true)
                      setSelection({ identity, chosen: next, everything: false })
                    },
                  }
                : undefined
            }
          />
        )}
        {list.count === 0 && list.isSuccess && <NothingThere filter={filter} onClear={() => setFilter({})} />}
      </section>
    </div>
  )
}

/**
 * Those that are ticked, as they were seen last. What moves on while it is ticked leaves the list, and is no longer meant; what newer
 * exports push out of the rows that are read is still there.
 */
function useTickedRows(
  ticks: ReadonlySet<string>,
  list: { loaded(): ExportTask[]; ended: boolean },
): readonly ExportTask[] {
  const seen = useRef<ReadonlyMap<string, ExportTask>>(new Map())
  if (ticks.size === 0) {
    seen.current = new Map()
    return []
  }
  const loaded = list.loaded().filter(({ task_id }) => ticks.has(task_id))
  const kept = list.ended ? [] : [...seen.current].filter(([id]) => ticks.has(id))
  seen.current = new Map([...kept, ...loaded.map((task) => [task.task_id, task] as const)])
  return [...seen.current.values()]
}

function NothingThere({ filter, onClear }: { filter: ListFilter; onClear(): void }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const mayChange = useMayChange('exports')
  if (isFiltered(filter))
    return (
      <EmptyState title={t('exports.no_match.title')} text={t('exports.no_match.text')}>
        <Button onClick={onClear}>{t('exports.no_match.clear')}</Button>
      </EmptyState>
    )
  return (
    <EmptyState
      title={t('exports.empty.title')}
      text={t(mayChange ? 'exports.empty.text' : 'exports.empty.read')}
    >
      <MayChange of="exports">
        <Button type="primary" onClick={() => go('/exports/new?sample')}>
          {t('exports.empty.sample')}
        </Button>
      </MayChange>
    </EmptyState>
  )
}
