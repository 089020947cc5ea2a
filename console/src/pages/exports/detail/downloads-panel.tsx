import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type ExportDownload, type ExportTask, listDownloads } from '../../../api/exports.ts'
import { Panel } from '../../../parts/page/panel.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Cut } from '../../../parts/text/cut.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { RelativeTime } from '../../../parts/text/relative-time.tsx'
import { whoText } from '../../../parts/text/who-text.ts'

/** A download makes no event. */
const AGAIN_MS = 3_000

/** Who fetched the file, and when. */
export function DownloadsPanel({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data } = useQuery({
    queryKey: ['export', task.task_id, 'downloads'],
    queryFn: ({ signal }) => listDownloads(task.task_id, signal),
    enabled: task.file !== null,
    refetchInterval: AGAIN_MS,
  })
  if (!data) return null
  const columns: Column<ExportDownload>[] = [
    { key: 'at', title: t('exports.detail.at'), draw: ({ at }) => <RelativeTime at={at} /> },
    { key: 'who', title: t('exports.detail.who'), draw: ({ who }) => <Cut text={whoText(who, t)} /> },
    { key: 'address', title: t('exports.detail.address'), draw: ({ address }) => <code>{address}</code> },
    {
      key: 'bytes',
      title: t('exports.fact.size'),
      align: 'right',
      draw: ({ bytes, complete }) => (complete ? format.bytes(bytes) : t('exports.detail.partly')),
    },
  ]
  return (
    <Panel title={t('exports.detail.downloads')}>
      {data.length === 0 ? (
        <p className="quiet">{t('exports.detail.no_downloads')}</p>
      ) : (
        <DataTable
          label={t('exports.detail.downloads')}
          columns={columns}
          rows={data}
          rowKey={({ at, address, bytes }) => `${at} ${address} ${bytes}`}
        />
      )}
    </Panel>
  )
}
