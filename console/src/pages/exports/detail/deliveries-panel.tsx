import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type ExportDelivery, type ExportTask, listDeliveries } from '../../../api/exports.ts'
import { Panel } from '../../../parts/page/panel.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Pill } from '../../../parts/table/pill.tsx'
import { RelativeTime } from '../../../parts/text/relative-time.tsx'

/** An attempt makes no event; they come while the callback has not been heard. */
const AGAIN_MS = 3_000

/** Attempts to call back. Shown when there was one, or will be. */
export function DeliveriesPanel({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  const { data = [] } = useQuery({
    queryKey: ['export', task.task_id, 'deliveries'],
    queryFn: ({ signal }) => listDeliveries(task.task_id, signal),
    refetchInterval: task.stage === 'notifying' ? AGAIN_MS : false,
  })
  if (data.length === 0) return null
  const columns: Column<ExportDelivery>[] = [
    { key: 'at', title: t('exports.detail.at'), draw: ({ at }) => <RelativeTime at={at} /> },
    {
      key: 'url',
      title: t('exports.detail.address'),
      draw: ({ url }) => <code className="detail-url">{url}</code>,
    },
    {
      key: 'outcome',
      title: t('exports.detail.outcome'),
      draw: ({ delivered, status, error }) => (
        <div>
          <Pill tone={delivered ? 'ok' : 'bad'}>
            {delivered ? t('exports.detail.delivered') : t('exports.detail.not_delivered')}
          </Pill>
          <p className="exports-sub">{error ?? status}</p>
        </div>
      ),
    },
  ]
  return (
    <Panel title={t('exports.detail.deliveries')}>
      <DataTable
        label={t('exports.detail.deliveries')}
        columns={columns}
        rows={data}
        rowKey={({ attempt, at }) => `${attempt} ${at}`}
      />
    </Panel>
  )
}
