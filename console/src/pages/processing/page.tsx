import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Button, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import { listTasks, type TaskStatus } from '../../api/tasks.ts'
import { oneOf, useAddressValue } from '../../live/address-value.ts'
import { MayChange, useMayChange } from '../../live/may-change.tsx'
import { useShowMore } from '../../live/show-more.ts'
import { EmptyState } from '../../parts/page/empty-state.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { RecentChoice, useRecent } from '../../parts/table/recent.tsx'
import { DropZone } from './drop-zone.tsx'
import { TASKS_KEY } from './patch.ts'
import './processing.css'
import { TaskTable } from './task-table.tsx'
import { uploads } from './upload-list.ts'
import { UploadsPanel } from './uploads-panel.tsx'

const STATUSES: readonly TaskStatus[] = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED']
/** Progress is no event: while something is at work it is asked for. */
const AGAIN_MS = 2_000

/** Uploads, and the tasks they have become. */
export function ProcessingPage() {
  const { t } = useTranslation()
  const [status, setStatus] = useAddressValue('status', oneOf(STATUSES))
  const queryKey = [...TASKS_KEY, status ?? 'all']
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => listTasks(status, { cursor: pageParam, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some((task) => task.status === 'PROCESSING')) ? AGAIN_MS : false,
  })
  const showMore = useShowMore(list, queryKey)
  const { since = '', ...period } = useRecent()
  const mayChange = useMayChange('processing')
  const isFiltered = status !== undefined || period.recent !== undefined
  const tasks = (list.data?.pages.flatMap(({ items }) => items) ?? []).filter(
    ({ updated_at }) => updated_at >= since,
  )
  return (
    <>
      <PageHead title={t('processing.title')} text={t('processing.text')} />
      <MayChange of="processing">
        <DropZone
          onFiles={(files) => {
            for (const file of files) uploads.add(file)
          }}
        />
      </MayChange>
      <UploadsPanel />
      <Panel
        title={t('processing.tasks')}
        extra={
          <div className="recent-beside">
            <RecentChoice {...period} />
            <Select
              allowClear
              className="processing-status"
              aria-label={t('processing.any_status')}
              placeholder={t('processing.any_status')}
              value={status ?? null}
              onChange={(next: TaskStatus | null | undefined) => setStatus(next ?? undefined)}
              options={STATUSES.map((value) => ({ value, label: t(`processing.status.${value}`) }))}
            />
          </div>
        }
      >
        {list.error && <ProblemNote error={list.error} onRetry={() => void list.refetch()} />}
        {tasks.length > 0 && <TaskTable tasks={tasks} busy={list.isFetching} />}
        {tasks.length === 0 && list.isSuccess && (
          <EmptyState
            title={t(`processing.${isFiltered ? 'no_match' : 'empty'}.title`)}
            text={t(
              isFiltered
                ? 'processing.no_match.text'
                : mayChange
                  ? 'processing.empty.text'
                  : 'processing.empty.read',
            )}
          />
        )}
        {list.hasNextPage && (
          <div className="processing-more">
            <Button loading={list.isFetchingNextPage} onClick={showMore}>
              {t('processing.more')}
            </Button>
          </div>
        )}
      </Panel>
    </>
  )
}
