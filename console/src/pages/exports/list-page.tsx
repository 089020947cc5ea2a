import { PlusOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { type ExportPage, type ExportTask, listExports, PAGE_ROWS } from '../../api/exports.ts'
import { session } from '../../api/session.ts'
import { useKeptChoice } from '../../live/kept-choice.ts'
import { lazyPart } from '../../live/lazy-part.ts'
import { MayChange, useMayChange } from '../../live/may-change.tsx'
import { chooseProject } from '../../live/project.ts'
import { useWindowPages } from '../../live/window-pages.ts'
import { totalText } from '../../parts/bulk/total-text.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { useFormat } from '../../parts/format.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useStore } from '../../store.ts'
import { askedOf, isFiltered, type ListFilter, NEWEST, useAddressFilter } from './address-filter.ts'
import { CHOICES, USUAL, useColumns } from './columns.tsx'
import { ExportFilters } from './filters.tsx'
import { ExportTable } from './table.tsx'
import './exports.css'
import './list.css'

// After the rows: the first view does not wait for what is done with them.
const ColumnChoice = lazyPart(async () => (await import('./column-menu.tsx')).ColumnMenu)
const ExportBulk = lazyPart(async () => (await import('./bulk-bar.tsx')).ExportBulk)

const NONE: ReadonlySet<string> = new Set()

/** Exports as they move: of one project, or of all. */
export function ExportListPage() {
  const { t } = useTranslation()
  const format = useFormat()
  const [, go] = useLocation()
  const [filter, setFilter] = useAddressFilter()
  const asked = useMemo(() => askedOf(filter), [filter])
  const sort = filter.sort ?? NEWEST
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
  const columns = useColumns(chosenColumns, wide)
  const identity = JSON.stringify([asked, sort])
  const [selection, setSelection] = useState({ identity, chosen: NONE, everything: false })
  // What was ticked in another list is not meant here.
  const { chosen, everything } =
    selection.identity === identity ? selection : { chosen: NONE, everything: false }
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
              everything={everything}
              total={total}
              filter={asked}
              onEverything={() => setSelection({ identity, chosen, everything: true })}
              onClear={() => setSelection({ identity, chosen: NONE, everything: false })}
            />
          </Suspense>
        )}
        {list.error && <ProblemNote error={list.error} onRetry={list.refetch} />}
        {list.count > 0 && (
          <ExportTable
            columns={columns}
            count={list.count}
            rowAt={list.rowAt}
            loaded={list.loaded}
            identity={identity}
            busy={list.isFetching}
            onView={list.show}
            sort={sort}
            onSort={(next) => setFilter({ ...filter, sort: next === NEWEST ? undefined : next })}
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

function NothingThere({ filter, onClear }: { filter: ListFilter; onClear(): void }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  if (isFiltered(filter))
    return (
      <EmptyState title={t('exports.no_match.title')} text={t('exports.no_match.text')}>
        <Button onClick={onClear}>{t('exports.no_match.clear')}</Button>
      </EmptyState>
    )
  return (
    <EmptyState title={t('exports.empty.title')} text={t('exports.empty.text')}>
      <MayChange of="exports">
        <Button type="primary" onClick={() => go('/exports/new?sample')}>
          {t('exports.empty.sample')}
        </Button>
      </MayChange>
    </EmptyState>
  )
}
