import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { TransferItem } from '../../../api/transfers.ts'
import { useProjects } from '../../../live/project.ts'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Cut } from '../../../parts/text/cut.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { jobAddress } from '../address.ts'
import { TargetBar } from '../job/target-bar.tsx'
import { StatusPill } from '../status-pill.tsx'

export function JobTable({ jobs, busy }: { jobs: readonly TransferItem[]; busy: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  // Only the admin sees the deliveries of several.
  const { data = [] } = useProjects()
  const projects = new Map(data.map(({ project_id, name }) => [project_id, name]))
  const columns: Column<TransferItem>[] = [
    {
      key: 'file',
      title: t('transfers.column.file'),
      phone: 'bare',
      draw: ({ job_id, file_name, file_path, file_size, project_id }) => (
        <div className="transfers-file">
          <Link href={jobAddress(job_id)}>
            <Cut text={file_name} />
          </Link>
          <span className="transfers-sub">
            {file_path}
            {file_size !== null && ` · ${format.bytes(file_size)}`}
            {projects.has(project_id) && ` · ${projects.get(project_id)}`}
          </span>
        </div>
      ),
    },
    {
      key: 'status',
      title: t('transfers.column.status'),
      width: 130,
      draw: ({ status }) => <StatusPill status={status} />,
    },
    {
      key: 'targets',
      title: t('transfers.column.targets'),
      phone: 'bare',
      draw: ({ targets }) => <TargetBar targets={targets} />,
    },
    {
      key: 'bytes',
      title: t('transfers.column.bytes'),
      align: 'right',
      width: 180,
      draw: ({ delivered_bytes, egress_bytes }) => (
        <span className="transfers-bytes">
          {format.bytes(delivered_bytes)}
          {egress_bytes !== null && (
            <span className="transfers-sub">
              {t('transfers.sent', { bytes: format.bytes(egress_bytes) })}
            </span>
          )}
        </span>
      ),
    },
    {
      key: 'created',
      title: t('transfers.column.created'),
      align: 'right',
      width: 110,
      draw: ({ created_at }) => (
        <time dateTime={created_at} title={format.exact(created_at)}>
          {format.moment(created_at)}
        </time>
      ),
    },
  ]
  return (
    <DataTable
      label={t('transfers.jobs')}
      columns={columns}
      rows={jobs}
      rowKey={({ job_id }) => job_id}
      busy={busy}
    />
  )
}
