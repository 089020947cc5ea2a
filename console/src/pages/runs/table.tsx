import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { Account } from '../../api/runs.ts'
import { addressOf } from '../../live/page-address.ts'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { type Ticked, useSelection } from '../../parts/table/selection.tsx'
import { Cut } from '../../parts/text/cut.tsx'
import { useFilterTexts } from './account/filters-text.ts'
import { Counters } from './counters.tsx'
import { RowActions } from './row-actions.tsx'
import { StateCell } from './state-cell.tsx'

interface Props {
  accounts: readonly Account[]
  /** Run ids in the order in which they will start. */
  queue: readonly string[]
  busy: boolean
  ticked: Ticked
  onEdit(account: Account): void
  onDelete(account: Account): void
}

/** A row per account. */
export function AccountTable({ accounts, queue, busy, ticked, onEdit, onDelete }: Props) {
  const { t } = useTranslation()
  const filtersOf = useFilterTexts()
  const selection = useSelection(ticked, { loaded: () => accounts, keyOf: handleOf, nameOf: handleOf })
  const places = new Map(queue.map((id, index) => [id, index + 1]))
  const placeOf = ({ run_id, state }: Account) =>
    state === 'Queued' && run_id !== null ? (places.get(run_id) ?? null) : null
  const columns: Column<Account>[] = [
    {
      key: 'account',
      title: t('runs.column.account'),
      phone: 'bare',
      draw: ({ handle, url, params }) => (
        <div className="runs-account">
          <Link href={addressOf('/runs', handle)}>
            <Cut text={handle} />
          </Link>
          <span className="runs-url" title={url}>
            {url}
          </span>
          <span className="runs-filters">
            {filtersOf(params).map((text) => (
              <span key={text}>{text}</span>
            ))}
          </span>
        </div>
      ),
    },
    {
      key: 'state',
      title: t('runs.column.state'),
      width: 140,
      draw: (account) => <StateCell account={account} place={placeOf(account)} />,
    },
    {
      key: 'counters',
      title: t('runs.column.counters'),
      phone: 'bare',
      width: 240,
      draw: (account) => <Counters account={account} />,
    },
    {
      key: 'actions',
      title: t('runs.column.actions'),
      align: 'right',
      phone: 'bare',
      width: 290,
      draw: (account) => (
        <RowActions account={account} onEdit={() => onEdit(account)} onDelete={() => onDelete(account)} />
      ),
    },
  ]
  return (
    <DataTable
      label={t('runs.title')}
      columns={columns}
      rows={accounts}
      rowKey={handleOf}
      busy={busy}
      selection={selection}
    />
  )
}

const handleOf = ({ handle }: Account) => handle
