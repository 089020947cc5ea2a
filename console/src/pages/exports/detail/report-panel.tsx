import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { type ExportReport, type ExportTask, getManifest, getReport } from '../../../api/exports.ts'
import { saveJson } from '../../../parts/dialog/save-json.ts'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { useFormat } from '../../../parts/text/format.ts'

type Table = ExportReport['tables'][number]
type Part = ExportReport['parts'][number]

/** What is in the file: rows, columns and, of an archive, its parts. */
export function ReportPanel({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { data } = useQuery({
    queryKey: ['export', task.task_id, 'report'],
    queryFn: ({ signal }) => getReport(task.task_id, signal),
    enabled: task.status === 'succeeded',
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!data) return null
  const { asked, written } = data.rows
  const rows = t('exports.report.rows', { asked: format.number(asked), written: format.number(written) })
  const columns: Column<Part>[] = [
    { key: 'name', title: t('exports.report.part'), draw: ({ name }) => name },
    { key: 'rows', title: t('exports.fact.rows'), align: 'right', draw: (part) => format.number(part.rows) },
    { key: 'size', title: t('exports.fact.size'), align: 'right', draw: (part) => format.bytes(part.size) },
    {
      key: 'sha256',
      title: t('exports.fact.sha256'),
      draw: ({ sha256 }) => <code>{sha256.slice(0, 16)}…</code>,
    },
  ]
  return (
    <Panel title={t('exports.report.title')} extra={<ReportLinks task={task} report={data} rows={rows} />}>
      {data.tables.map((table) => (
        <ColumnTable key={table.name} table={table} named={data.tables.length > 1} />
      ))}
      {data.parts.length > 1 && (
        <DataTable
          label={t('exports.fact.parts')}
          columns={columns}
          rows={data.parts}
          rowKey={({ name }) => name}
        />
      )}
    </Panel>
  )
}

/** The numbers, and both documents as files. */
function ReportLinks({ task, report, rows }: { task: ExportTask; report: ExportReport; rows: string }) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const name = task.file?.name ?? task.file_name
  return (
    <span className="report-links">
      <span>{rows}</span>
      <Button size="small" onClick={() => saveJson(`${name}.report.json`, report)}>
        {t('make.report.download')}
      </Button>
      <Button
        size="small"
        onClick={() =>
          void getManifest(task.task_id).then(
            (manifest) => saveJson(`${name}.manifest.json`, manifest),
            toasts.problem,
          )
        }
      >
        {t('make.report.manifest')}
      </Button>
    </span>
  )
}

export function ColumnTable({ table, named }: { table: Table; named: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  type Counted = Table['columns'][number] & { place: number }
  const count = (key: 'nulls' | 'misfits' | 'rounded' | 'escaped' | 'longest' | 'cuts'): Column<Counted> => ({
    key,
    title: t(`exports.report.${key}`),
    align: 'right',
    draw: ({ [key]: value = 0 }) => (value === 0 ? '–' : format.number(value)),
  })
  // A type that the page does not know keeps its name.
  const typeText = (type: string) => t(`make.builder.types.${type as 'auto'}`, { defaultValue: type })
  const columns: Column<Counted>[] = [
    { key: 'title', title: t('exports.report.column'), draw: ({ title, name }) => title || name },
    { key: 'type', title: t('exports.report.type'), draw: ({ type }) => typeText(type) },
    count('nulls'),
    count('misfits'),
    count('rounded'),
    count('escaped'),
    count('longest'),
    count('cuts'),
  ]
  const label = `${t('exports.report.title')} ${table.name}`
  if (table.columns.length === 0) return null
  return (
    <>
      {named && <h3>{table.name}</h3>}
      <div className="report-table">
        <DataTable
          label={label}
          columns={columns}
          rows={table.columns.map((column, place) => ({ ...column, place }))}
          rowKey={({ place }) => String(place)}
        />
      </div>
    </>
  )
}
