import { RedoOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { type Account, type FailedFile, listFailedFiles } from '../../../api/runs.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Cut } from '../../../parts/text/cut.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { RelativeTime } from '../../../parts/text/relative-time.tsx'
import { useAccountList } from '../use-account-list.ts'
import { useRunActions } from '../use-run-actions.ts'
import { MoreButton } from './more-button.tsx'

/** What could not be fetched, with the reason, and one button that tries all of it again. */
export function FailedFiles({ account }: { account: Account }) {
  const { t } = useTranslation()
  const { start } = useRunActions(account)
  const { handle, locked } = account
  const { items, error, more, busy } = useAccountList(handle, 'failed', (page) =>
    listFailedFiles(handle, page),
  )
  const columns: Column<FailedFile>[] = [
    {
      key: 'name',
      title: t('runs.files.name'),
      phone: 'bare',
      draw: ({ name, url }) => (
        <span className="account-name">
          <Cut text={name} />
          {url !== null && <span className="runs-url">{url}</span>}
        </span>
      ),
    },
    {
      key: 'why',
      title: t('runs.failed.why'),
      phone: 'bare',
      draw: ({ error: why }) => (
        <span className="runs-error">
          <FailureText error={why} />
        </span>
      ),
    },
    {
      key: 'at',
      title: t('runs.failed.at'),
      align: 'right',
      width: 110,
      draw: ({ failed_at }) => <RelativeTime at={failed_at} />,
    },
  ]
  if (!error && !items?.length) return null
  return (
    <Panel
      title={t('runs.failed.title')}
      extra={
        <MayChange of="runs">
          <Button
            type="primary"
            size="small"
            icon={<RedoOutlined />}
            disabled={locked}
            loading={start.isPending}
            onClick={() => start.mutate('retry')}
          >
            {t('runs.failed.retry')}
          </Button>
        </MayChange>
      }
    >
      {error && <ProblemNote error={error} />}
      {items && (
        <DataTable
          label={t('runs.failed.title')}
          columns={columns}
          rows={items}
          rowKey={({ item_id }) => item_id}
          busy={busy}
        />
      )}
      <MoreButton more={more} />
    </Panel>
  )
}
