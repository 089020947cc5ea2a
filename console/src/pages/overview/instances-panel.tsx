import { useTranslation } from 'react-i18next'
import type { Overview } from '../../api/overview.ts'
import { Panel } from '../../parts/page/panel.tsx'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { Pill } from '../../parts/table/pill.tsx'
import { useFormat } from '../../parts/text/format.ts'

type Instance = Overview['instances'][number]

/** Who shares the work, and who leads. */
export function InstancesPanel({ overview }: { overview: Overview }) {
  const { t } = useTranslation()
  const format = useFormat()
  const columns: Column<Instance>[] = [
    {
      key: 'id',
      title: t('overview.instance'),
      phone: 'bare',
      draw: ({ instance_id }) => <code className="overview-instance">{instance_id}</code>,
    },
    {
      key: 'role',
      title: t('overview.role'),
      draw: ({ leader }) => (
        <Pill tone={leader ? 'busy' : 'quiet'}>{t(leader ? 'overview.leads' : 'overview.works')}</Pill>
      ),
    },
    { key: 'host', title: t('overview.host'), draw: ({ host }) => host },
    { key: 'version', title: t('overview.version'), draw: ({ version }) => version },
    {
      key: 'started',
      title: t('overview.started'),
      draw: ({ started_at }) => format.moment(started_at),
    },
    {
      key: 'seen',
      title: t('overview.seen'),
      align: 'right',
      draw: ({ seen_at }) =>
        t('overview.ago', {
          time: format.duration(Math.max(0, Date.parse(overview.at) - Date.parse(seen_at))),
        }),
    },
  ]
  return (
    <Panel title={t('overview.instances')}>
      <DataTable
        label={t('overview.instances')}
        columns={columns}
        rows={overview.instances}
        rowKey={({ instance_id }) => instance_id}
      />
    </Panel>
  )
}
