import { EyeOutlined, SendOutlined } from '@ant-design/icons'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Button, Segmented, Tooltip } from 'antd'
import { useState } from 'react'
import { Link } from 'wouter'
import { getCallback, type LoggedDelivery, listDeliveries, resendCallback } from '../../api/admin.ts'
import { oneOf, useAddressValue } from '../../live/address-value.ts'
import { MayChange } from '../../live/may-change.tsx'
import { addressOf } from '../../live/page-address.ts'
import { useProjects } from '../../live/project.ts'
import { useMadeOnce } from '../../live/use-once.ts'
import { Dialog } from '../../parts/dialog/dialog.tsx'
import { EmptyState } from '../../parts/page/empty-state.tsx'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { Pill } from '../../parts/table/pill.tsx'
import { CopyButton } from '../../parts/text/copy-button.tsx'
import { RelativeTime } from '../../parts/text/relative-time.tsx'
import { useDeed } from './use-deed.ts'
import { useWords } from './words.ts'

const KEY = ['webhooks']
const AGAIN_MS = 15_000

const isKnown = (type: string) => /^export\.(succeeded|failed|cancelled)$/.test(type)

/** Attempts to tell business systems and people, of all projects. */
export function WebhooksPage() {
  const t = useWords()
  const { data: projects = [] } = useProjects()
  const [show = 'all', setShow] = useAddressValue('show', oneOf(['failed']))
  const failed = show === 'failed'
  const list = useInfiniteQuery({
    queryKey: [...KEY, failed],
    queryFn: ({ pageParam, signal }) => listDeliveries(failed, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: AGAIN_MS,
  })
  const [shown, setShown] = useState<string | null>(null)
  const resend = useDeed(KEY, useMadeOnce(resendCallback), { said: t('webhook.sent') })
  const typeText = (type: string) =>
    isKnown(type) ? t(`webhook.type.${type.replace('.', '_') as 'export_failed'}`) : type
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? []
  const columns: Column<LoggedDelivery>[] = [
    { key: 'at', title: t('webhook.at'), phone: 'bare', draw: ({ at }) => <RelativeTime at={at} /> },
    {
      key: 'task',
      title: t('webhook.task'),
      draw: ({ task_id, type, project_id }) => (
        <>
          <Link href={addressOf('/exports', task_id)} title={type}>
            {typeText(type)}
          </Link>
          <small className="quiet admin-sub">
            {projects.find((project) => project.project_id === project_id)?.name ?? project_id}
          </small>
        </>
      ),
    },
    {
      key: 'to',
      title: t('webhook.to'),
      draw: ({ url, channel }) => (
        <span className="admin-url">{channel === 'callback' ? url : `${channel}: ${url}`}</span>
      ),
    },
    {
      key: 'outcome',
      title: t('webhook.outcome'),
      draw: ({ delivered, status, error, attempt }) => (
        <>
          <Pill tone={delivered ? 'ok' : 'bad'}>
            {delivered ? t('webhook.arrived') : t('webhook.failed')}
          </Pill>
          <small className="quiet admin-sub">
            {t('webhook.attempt', { attempt })}
            {(error ?? status) !== null && ` · ${error ?? status}`}
          </small>
        </>
      ),
    },
    {
      key: 'next',
      title: t('webhook.next'),
      draw: ({ next_attempt_at }) => (next_attempt_at ? <RelativeTime at={next_attempt_at} coming /> : '–'),
    },
    {
      key: 'actions',
      title: t('actions'),
      align: 'right',
      draw: ({ task_id, channel, type }) =>
        channel === 'callback' && (
          <span className="admin-actions">
            <Tooltip title={t('webhook.body')}>
              <Button
                type="text"
                icon={<EyeOutlined />}
                aria-label={`${t('webhook.body')}: ${typeText(type)} ${task_id}`}
                onClick={() => setShown(task_id)}
              />
            </Tooltip>
            <MayChange of="admin">
              <Tooltip title={t('webhook.resend')}>
                <Button
                  type="text"
                  icon={<SendOutlined />}
                  aria-label={`${t('webhook.resend')}: ${typeText(type)} ${task_id}`}
                  loading={resend.isPending && resend.variables === task_id}
                  onClick={() => resend.mutate(task_id)}
                />
              </Tooltip>
            </MayChange>
          </span>
        ),
    },
  ]
  return (
    <Panel
      title={t('part.webhooks')}
      extra={
        <Segmented
          aria-label={t('webhook.show')}
          value={show}
          onChange={(next) => setShow(next === 'failed' ? 'failed' : undefined)}
          options={[
            { value: 'all', label: t('webhook.all') },
            { value: 'failed', label: t('webhook.only_failed') },
          ]}
        />
      }
    >
      {list.error && <ProblemNote error={list.error} />}
      {list.isSuccess && rows.length === 0 && (
        <EmptyState title={t('webhook.none')} text={t('webhook.none_text')} />
      )}
      {rows.length > 0 && (
        <DataTable
          label={t('part.webhooks')}
          columns={columns}
          rows={rows}
          rowKey={({ delivery_id }) => delivery_id}
          busy={list.isFetching}
        />
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
      {shown && <BodyDialog taskId={shown} onClose={() => setShown(null)} />}
    </Panel>
  )
}

function BodyDialog({ taskId, onClose }: { taskId: string; onClose(): void }) {
  const t = useWords()
  const { data, error } = useQuery({
    queryKey: ['callback', taskId],
    queryFn: ({ signal }) => getCallback(taskId, signal),
  })
  const text = data === undefined ? '' : JSON.stringify(data, null, 2)
  return (
    <Dialog
      title={t('webhook.body')}
      onClose={onClose}
      footer={
        <Button type="primary" onClick={onClose}>
          {t('secret.done')}
        </Button>
      }
    >
      {error && <ProblemNote error={error} />}
      {text && (
        <div className="admin-body">
          <CopyButton text={text} name={t('webhook.body')} />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
          <pre tabIndex={0}>{text}</pre>
        </div>
      )}
    </Dialog>
  )
}
