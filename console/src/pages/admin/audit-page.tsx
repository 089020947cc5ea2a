import { useInfiniteQuery } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { type AuditEntry, listAudit } from '../../api/admin.ts'
import { anyText, useAddressValue } from '../../live/address-value.ts'
import { EmptyState } from '../../parts/page/empty-state.tsx'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { RelativeTime } from '../../parts/text/relative-time.tsx'
import { useActionText } from './use-action-text.ts'
import { useNames } from './use-names.ts'
import { useWords } from './words.ts'

/** Who did what, newest first. */
export function AuditPage() {
  const t = useWords()
  const actionText = useActionText()
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
          {names.who(entry.actor)}
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
          {actionText(entry.action)}
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
      draw: ({ detail }) => detail && <Details detail={detail} nameOf={names.of} />,
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

/** What was changed, field by field; ids by their names. */
function Details({ detail, nameOf }: { detail: Record<string, unknown>; nameOf(id: string): string }) {
  const t = useWords()
  const textOf = (value: unknown): string => {
    if (Array.isArray(value)) return value.map(textOf).join(', ')
    if (typeof value === 'object' && value !== null)
      return Object.entries(value)
        .map(([name, one]) => `${name}: ${textOf(one)}`)
        .join(', ')
    return nameOf(String(value))
  }
  return (
    <dl className="admin-details" title={JSON.stringify(detail, null, 2)}>
      {Object.entries(detail).map(([name, value]) => (
        <div key={name}>
          <dt>{t(`audit.field.${name as 'name'}`, { defaultValue: name })}</dt>
          <dd>{textOf(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
