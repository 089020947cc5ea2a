import { SendOutlined } from '@ant-design/icons'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Button, Select, Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { session } from '../../../api/session.ts'
import { listTransfers, type TransferStatus } from '../../../api/transfers.ts'
import { oneOf, useAddressValue } from '../../../live/address-value.ts'
import { MayChange, useMayChange } from '../../../live/may-change.tsx'
import { useShowMore } from '../../../live/show-more.ts'
import { EmptyState } from '../../../parts/page/empty-state.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { RecentChoice, useRecent } from '../../../parts/table/recent.tsx'
import { useStore } from '../../../store.ts'
import { TRANSFERS_KEY } from '../patch.ts'
import { AgentsPanel } from './agents-panel.tsx'
import { EgressPanel } from './egress-panel.tsx'
import { JobTable } from './job-table.tsx'
import { Timeline } from './timeline.tsx'
import '../transfers.css'

const STATUSES: readonly TransferStatus[] = ['Pending', 'Running', 'Success', 'Failed', 'Timeout']

/** Progress, and agents that come or go, are no events: while something is delivered it is asked for. */
const AGAIN_MS = 2_000

/** Windows, deliveries, agents, and who carries the bytes. */
export function TransferListPage() {
  const { t } = useTranslation()
  const [status, setStatus] = useAddressValue('status', oneOf(STATUSES))
  const recent = useTransfers(undefined)
  const list = useTransfers(status)
  const showMore = useShowMore(list, keyOf(status))
  const isAdmin = useStore(session)?.role === 'admin'
  const mayChange = useMayChange('transfers')
  const { since = '', ...period } = useRecent()
  const jobs = (list.data?.pages.flatMap(({ items }) => items) ?? []).filter(
    ({ created_at, finished_at }) => (finished_at ?? created_at) >= since,
  )
  const isFiltered = status !== undefined || period.recent !== undefined
  const latest = recent.data?.pages[0]?.items ?? []
  return (
    <>
      <PageHead title={t('transfers.title')} text={t('transfers.text')}>
        <MayChange of="transfers">
          <NewButton />
        </MayChange>
      </PageHead>
      {list.error && <ProblemNote error={list.error} onRetry={() => void list.refetch()} />}
      <Panel
        title={t('transfers.timeline.title')}
        extra={<span className="transfers-sub">{t('transfers.timeline.legend')}</span>}
      >
        <Timeline jobs={latest} />
      </Panel>
      <div className="transfers-pair">
        <EgressPanel jobs={latest} />
        <AgentsPanel />
      </div>
      <Panel
        title={t('transfers.jobs')}
        extra={
          <div className="recent-beside">
            <RecentChoice {...period} />
            <Select
              allowClear
              className="transfers-status"
              aria-label={t('transfers.any_status')}
              placeholder={t('transfers.any_status')}
              value={status ?? null}
              onChange={(next: TransferStatus | null | undefined) => setStatus(next ?? undefined)}
              options={STATUSES.map((value) => ({ value, label: t(`transfers.status.${value}`) }))}
            />
          </div>
        }
      >
        {jobs.length > 0 && <JobTable jobs={jobs} busy={list.isFetching} />}
        {jobs.length === 0 && list.isSuccess && (
          <EmptyState
            title={t(`transfers.${isFiltered ? 'no_match' : 'empty'}.title`)}
            text={t(
              isFiltered
                ? 'transfers.no_match.text'
                : !mayChange
                  ? 'transfers.empty.read'
                  : isAdmin
                    ? 'transfers.empty.admin'
                    : 'transfers.empty.text',
            )}
          />
        )}
        {list.hasNextPage && (
          <div className="transfers-more">
            <Button loading={list.isFetchingNextPage} onClick={showMore}>
              {t('transfers.more')}
            </Button>
          </div>
        )}
      </Panel>
    </>
  )
}

const keyOf = (status: TransferStatus | undefined) => [...TRANSFERS_KEY, status ?? 'all']

function useTransfers(status: TransferStatus | undefined) {
  return useInfiniteQuery({
    queryKey: keyOf(status),
    queryFn: ({ pageParam, signal }) => listTransfers({ status }, { cursor: pageParam, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some((job) => job.status === 'Running')) ? AGAIN_MS : false,
  })
}

/** Files and deliveries belong to projects, so the admin token can make none. */
function NewButton() {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const isAdmin = useStore(session)?.role === 'admin'
  const button = (
    <Button type="primary" icon={<SendOutlined />} disabled={isAdmin} onClick={() => go('/transfers/new')}>
      {t('transfers.new.title')}
    </Button>
  )
  return isAdmin ? <Tooltip title={t('transfers.new.needs_key')}>{button}</Tooltip> : button
}
