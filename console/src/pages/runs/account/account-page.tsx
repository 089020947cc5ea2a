import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { type Account, getAccount } from '../../../api/runs.ts'
import { BackLink } from '../../../parts/page/back-link.tsx'
import { DetailColumns } from '../../../parts/page/detail-columns.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { PageLoading } from '../../../parts/page/page-loading.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { AccountForm } from '../edit/account-form.tsx'
import { AccountFiles } from './account-files.tsx'
import './account-page.css'
import { Counters } from '../counters.tsx'
import { DeleteDialog } from '../edit/delete-dialog.tsx'
import { ACCOUNT_KEY } from '../patch.ts'
import { RowActions } from '../row-actions.tsx'
import { FailedFiles } from './failed-files.tsx'
import { useFilterTexts } from './filters-text.ts'
import { RunHistory } from './run-history.tsx'
import { RunLog } from './run-log.tsx'
import '../runs.css'
import { StateCell } from '../state-cell.tsx'

/** One account: how its run goes, what came of it, what failed, and the runs before. */
export function AccountPage({ handle }: { handle: string }) {
  const { t } = useTranslation()
  const {
    data: account,
    error,
    refetch,
  } = useQuery({
    queryKey: [...ACCOUNT_KEY, handle],
    queryFn: ({ signal }) => getAccount(handle, signal),
  })
  return (
    <>
      <BackLink href="/runs">{t('runs.title')}</BackLink>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!account && !error && <PageLoading />}
      {account && <Detail account={account} />}
    </>
  )
}

function Detail({ account }: { account: Account }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const filtersOf = useFilterTexts()
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null)
  const [chosen, setChosen] = useState<string | null>(null)
  const { handle, url, params, run_id } = account
  const shown = chosen ?? run_id
  const filters = filtersOf(params)
  return (
    <>
      <PageHead title={handle} text={<span className="runs-url">{url}</span>}>
        <RowActions account={account} onEdit={() => setDialog('edit')} onDelete={() => setDialog('delete')} />
      </PageHead>
      <DetailColumns
        aside={
          <>
            <RunHistory handle={handle} shown={shown} onShow={setChosen} />
            {shown !== null && <RunLog handle={handle} runId={shown} />}
          </>
        }
      >
        <Panel title={t('runs.page_last')} extra={<StateCell account={account} place={null} />}>
          <Counters account={account} />
          {account.waiting_for && (
            <p className="runs-error">
              {t('runs.waits')} <FailureText error={account.waiting_for} />
            </p>
          )}
          {filters.length > 0 && (
            <p className="runs-filters account-filters">
              {filters.map((text) => (
                <span key={text}>{text}</span>
              ))}
            </p>
          )}
        </Panel>
        <FailedFiles account={account} />
        <AccountFiles handle={handle} />
      </DetailColumns>
      {dialog === 'edit' && <AccountForm account={account} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && (
        <DeleteDialog handle={handle} onClose={() => setDialog(null)} onDeleted={() => go('/runs')} />
      )}
    </>
  )
}
