import { useInfiniteQuery } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { type AuditEntry, listAudit } from '../../api/admin.ts'
import { anyText, useAddressValue } from '../../live/address-value.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { useNames } from './use-names.ts'
import { useWords } from './words.ts'

/** Who did what, newest first. */
export function AuditPage() {
  const t = useWords()
  const [actor, setActor] = useAddressValue('actor', anyText)
  const [action, setAction] = useAddressValue('action', anyText)
  const list = useInfiniteQuery({
    queryKey: ['audit', actor, action],
    queryFn: ({ pageParam, signal }) => listAudit({ actor, action }, pageParam, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next_before }) => next_before,
    staleTime: 0,
  })
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? []
  const names = useNames(rows.map(({ project_id }) => project_id))
  const columns: Column<AuditEntry>[] = [
    { key: 'at', title: t('audit.at'), width: 110, draw: ({ at }) => <RelativeTime at={at} /> },
    {
      key: 'actor',
      title: t('audit.actor'),
      phone: 'bare',
      width: 190,
      draw: (entry) => (
        <Button type="link" className="admin-pick" title={entry.actor} onClick={() => setActor(entry.actor)}>
          {names.of(entry.actor)}
        </Button>
      ),
    },
    {
      key: 'action',
      title: t('audit.action'),
      width: 190,
      draw: (entry) => (
        <Button
          type="link"
          className="admin-pick"
          title={entry.action}
          onClick={() => setAction(entry.action)}
        >
          {entry.action}
        </Button>
      ),
    },
    {
      key: 'project',
      title: t('audit.project'),
      width: 130,
      draw: ({ project_id }) => project_id && <span title={project_id}>{names.of(project_id)}</span>,
    },
    {
      key: 'target',
      title: t('audit.target'),
      draw: ({ target }) => <span title={target}>{names.of(target)}</span>,
    },
    {
      key: 'detail',
      title: t('audit.detail'),
      draw: ({ detail }) =>
        detail && <code title={JSON.stringify(detail, null, 2)}>{JSON.stringify(detail)}</code>,
    },
    { key: 'address', title: t('audit.address'), width: 120, draw: ({ address }) => address ?? '' },
  ]
  return (
    <Panel title={t('part.audit')}>
      <search className="admin-filters">
        <Input
          allowClear
          aria-label={t('audit.actor')}
          placeholder={t('audit.actor_hint')}
          value={actor ?? ''}
          onChange={({ target }) => setActor(target.value || undefined)}
        />
        <Input
          allowClear
          aria-label={t('audit.action')}
          placeholder={t('audit.action_hint')}
          value={action ?? ''}
          onChange={({ target }) => setAction(target.value || undefined)}
        />
        <Button loading={list.isFetching} onClick={() => void list.refetch()}>
          {t('refresh')}
        </Button>
      </search>
      {list.error && <ProblemNote error={list.error} />}
      {list.isSuccess && rows.length === 0 && (
        <EmptyState title={t('audit.none')} text={t('audit.none_text')} />
      )}
      {rows.length > 0 && (
        <div className="admin-audit">
          <DataTable
            label={t('part.audit')}
            columns={columns}
            rows={rows}
            rowKey={({ seq }) => String(seq)}
            busy={list.isFetching}
          />
        </div>
      )}
      {list.hasNextPage && (
        <Button
          className="admin-more"
          loading={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {t('more')}
        </Button>
      )}
    </Panel>
  )
}
