import { PlusOutlined, SearchOutlined, SnippetsOutlined } from '@ant-design/icons'
import { useQuery } from '@tanstack/react-query'
import { Button, Input, Select } from 'antd'
import { useDeferredValue, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Account, type AccountState, getState } from '../../api/runs.ts'
import { anyText, oneOf, useAddressValue } from '../../live/address-value.ts'
import { MayChange, useMayChange } from '../../live/may-change.tsx'
import { EmptyState } from '../../parts/page/empty-state.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { PageLoading } from '../../parts/page/page-loading.tsx'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { RecentChoice, useRecent } from '../../parts/table/recent.tsx'
import { ConcurrencyControl } from './concurrency-control.tsx'
import { AccountForm } from './edit/account-form.tsx'
import { DeleteDialog } from './edit/delete-dialog.tsx'
import { PasteDialog } from './edit/paste-dialog.tsx'
import { RUNS_KEY } from './patch.ts'
import './runs.css'
import { RunsBulk } from './runs-bulk.tsx'
import { AccountTable } from './table.tsx'

const STATES: readonly AccountState[] = ['Idle', 'Queued', 'Running', 'Done', 'Failed', 'Cancelled']
const ROWS_AT_ONCE = 100
const NONE: ReadonlySet<string> = new Set()

type Open = { what: 'add' } | { what: 'paste' } | { what: 'edit' | 'delete'; account: Account }

/** The accounts of the installation, their runs, and how many of them go on at once. */
export function RunsPage() {
  const { t } = useTranslation()
  const [dialog, setDialog] = useState<Open | null>(null)
  const [search = '', setSearch] = useAddressValue('search', anyText)
  const [state, setState] = useAddressValue('state', oneOf(STATES))
  const { since = '', ...period } = useRecent()
  const [most, setMost] = useState(ROWS_AT_ONCE)
  const { data, error, isPending, isFetching, refetch } = useQuery({
    queryKey: RUNS_KEY,
    queryFn: ({ signal }) => getState(signal),
  })
  const wanted = useDeferredValue(search.trim().toLowerCase())
  const shown = (data?.accounts ?? []).filter(
    (account) =>
      (state === undefined || account.state === state) &&
      account.updated_at >= since &&
      `${account.handle} ${account.url}`.toLowerCase().includes(wanted),
  )
  const mayChange = useMayChange('runs')
  const running = data?.accounts.filter((account) => account.state === 'Running').length ?? 0
  const close = () => setDialog(null)
  const identity = JSON.stringify([wanted, state, since])
  const [selection, setSelection] = useState({ identity, chosen: NONE, everything: false })
  // What was ticked under another filter is not meant here.
  const { chosen: ticks, everything } =
    selection.identity === identity ? selection : { chosen: NONE, everything: false }
  // What moves on while it is ticked leaves the list, and is no longer meant.
  const chosen = new Set(shown.filter(({ handle }) => ticks.has(handle)).map(({ handle }) => handle))
  const select = (next: ReadonlySet<string>, all = false) =>
    setSelection({ identity, chosen: next, everything: all })
  return (
    <>
      <PageHead title={t('runs.title')} text={t('runs.text')}>
        <MayChange of="runs">
          <Button icon={<SnippetsOutlined />} onClick={() => setDialog({ what: 'paste' })}>
            {t('runs.paste.open')}
          </Button>
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setDialog({ what: 'add' })}>
            {t('runs.form.add')}
          </Button>
        </MayChange>
      </PageHead>
      {isPending && <PageLoading />}
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {data && (
        <Panel>
          <div className="runs-bar">
            <search className="runs-search">
              <Input
                allowClear
                prefix={<SearchOutlined />}
                aria-label={t('runs.search')}
                placeholder={t('runs.search')}
                value={search}
                onChange={({ target }) => setSearch(target.value)}
              />
              <Select
                allowClear
                aria-label={t('runs.any_state')}
                placeholder={t('runs.any_state')}
                value={state ?? null}
                onChange={(next: AccountState | null | undefined) => setState(next ?? undefined)}
                options={STATES.map((value) => ({ value, label: t(`runs.state.${value}`) }))}
              />
              <RecentChoice {...period} />
            </search>
            <MayChange of="runs">
              <ConcurrencyControl value={data.max_concurrent} running={running} />
            </MayChange>
          </div>
          <RunsBulk
            selected={chosen}
            everything={everything}
            total={{ count: shown.length, exact: true }}
            matching={shown}
            onEverything={() => select(chosen, true)}
            onClear={() => select(NONE)}
          />
          {shown.length > 0 && (
            <AccountTable
              ticked={{ chosen, everything, onChange: (next) => select(next) }}
              accounts={shown.slice(0, most)}
              queue={data.queue}
              busy={isFetching}
              onEdit={(account) => setDialog({ what: 'edit', account })}
              onDelete={(account) => setDialog({ what: 'delete', account })}
            />
          )}
          {shown.length > most && (
            <Button className="runs-more" onClick={() => setMost(most + ROWS_AT_ONCE)}>
              {t('runs.more', { count: shown.length - most })}
            </Button>
          )}
          {shown.length === 0 && data.accounts.length > 0 && (
            <EmptyState title={t('runs.no_match.title')} text={t('runs.no_match.text')} />
          )}
          {data.accounts.length === 0 && (
            <EmptyState
              title={t('runs.empty.title')}
              text={t(mayChange ? 'runs.empty.text' : 'runs.empty.read')}
            >
              <MayChange of="runs">
                <Button type="primary" onClick={() => setDialog({ what: 'paste' })}>
                  {t('runs.paste.open')}
                </Button>
              </MayChange>
            </EmptyState>
          )}
        </Panel>
      )}
      {dialog?.what === 'paste' && <PasteDialog onClose={close} />}
      {dialog?.what === 'add' && <AccountForm account={null} onClose={close} />}
      {dialog?.what === 'delete' && <DeleteDialog handle={dialog.account.handle} onClose={close} />}
      {dialog?.what === 'edit' && <AccountForm account={dialog.account} onClose={close} />}
    </>
  )
}
