import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { ExportTask } from '../../../api/exports.ts'
import { addressOf } from '../../../live/page-address.ts'
import { useProjectName } from '../../../live/project.ts'
import { FactList } from '../../../parts/page/detail-columns.tsx'
import { Copyable } from '../../../parts/text/copy-button.tsx'
import { useFormat } from '../../../parts/text/format.ts'

/** What is known of an export, the empty left out. */
export function ExportFacts({ task }: { task: ExportTask }) {
  const { t } = useTranslation()
  const format = useFormat()
  const projectName = useProjectName()
  const { file } = task
  const when = (iso: string | null) => iso && format.exact(iso)
  const took =
    task.started_at && task.finished_at ? Date.parse(task.finished_at) - Date.parse(task.started_at) : null
  const facts = {
    project: projectName(task.project_id),
    title: task.title,
    saved_export: task.saved_export && (
      <Link href={addressOf('/saved/exports', task.saved_export)}>{task.saved_export}</Link>
    ),
    type: t(`exports.type.${task.type}`),
    operator: task.operator_id,
    rows: file && format.number(file.rows),
    size: file && task.download_url !== null && format.bytes(file.size),
    parts: file && file.parts > 1 ? format.number(file.parts) : null,
    created: when(task.created_at),
    started: when(task.started_at),
    finished: when(task.finished_at),
    took: took === null ? null : format.duration(took),
    attempts: task.attempts > 1 ? format.number(task.attempts) : null,
    kept_until: task.file_deleted_at ? null : when(task.expires_at),
    deleted: when(task.file_deleted_at),
    id: <Copyable text={task.task_id} name={t('exports.fact.id')} />,
    sha256: file && <Copyable text={file.sha256} name={t('exports.fact.sha256')} />,
  }
  return (
    <FactList
      facts={(Object.keys(facts) as (keyof typeof facts)[]).map((name) => [
        t(`exports.fact.${name}`),
        facts[name],
      ])}
    />
  )
}
