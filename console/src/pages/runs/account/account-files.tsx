import { DownloadOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { type AccountFile, fileAddress, listAccountFiles } from '../../../api/runs.ts'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Cut } from '../../../parts/text/cut.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { useAccountList } from '../use-account-list.ts'
import { MoreButton } from './more-button.tsx'

/** What was fetched, by name. */
export function AccountFiles({ handle }: { handle: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { items, error, more, busy } = useAccountList(handle, 'files', (page) =>
    listAccountFiles(handle, page),
  )
  const columns: Column<AccountFile>[] = [
    {
      key: 'name',
      title: t('runs.files.name'),
      phone: 'bare',
      draw: ({ name }) => <Cut text={name} />,
    },
    {
      key: 'size',
      title: t('runs.files.size'),
      align: 'right',
      width: 100,
      draw: ({ size }) => (size === null ? '–' : format.bytes(size)),
    },
    {
      key: 'download',
      title: t('runs.column.actions'),
      align: 'right',
      phone: 'bare',
      width: 130,
      draw: ({ item_id, name }) => (
        <Button
          size="small"
          icon={<DownloadOutlined />}
          href={fileAddress(handle, item_id)}
          download={name}
          aria-label={t('runs.files.download_label', { name })}
        >
          {t('runs.files.download')}
        </Button>
      ),
    },
  ]
  return (
    <Panel title={t('runs.files.title')}>
      {error && <ProblemNote error={error} />}
      {items?.length === 0 && <p className="quiet">{t('runs.files.empty')}</p>}
      {items && items.length > 0 && (
        <DataTable
          label={t('runs.files.title')}
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
