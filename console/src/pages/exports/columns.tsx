import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { ExportTask } from '../../api/exports.ts'
import { useProjects } from '../../live/project.ts'
import { type Format, useFormat } from '../../parts/format.ts'
import type { WindowColumn } from '../../parts/window-table.tsx'
import { ExportActions } from './actions.tsx'
import { RowResult } from './row-result.tsx'
import { StatusPill } from './status-pill.tsx'

/** What can be left out, in its order; the file, the status and the actions are always there. */
export const CHOICES = [
  'project',
  'type',
  'result',
  'size',
  'operator',
  'created',
  'finished',
  'took',
  'id',
] as const
export type Choice = (typeof CHOICES)[number]
export const USUAL: readonly Choice[] = ['project', 'type', 'result', 'size', 'operator', 'created']

/** The columns of the list. `wide`: over all projects, which can be sorted by their age alone. */
export function useColumns(chosen: readonly Choice[], wide: boolean): readonly WindowColumn<ExportTask>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: projects } = useProjects()
  return useMemo(() => {
    const names = new Map(projects?.map(({ project_id, name }) => [project_id, name]))
    const time = (at: string | null) => <Time at={at} format={format} />
    const sort = (name: string) => (wide ? {} : { sort: name })
    const optional: Record<Choice, Omit<WindowColumn<ExportTask>, 'key' | 'title'>> = {
      project: { width: 110, phone: 'hidden', draw: (task) => names.get(task.project_id) ?? task.project_id },
      type: { width: 96, phone: 'hidden', draw: (task) => t(`exports.type.${task.type}`) },
      result: { width: 230, phone: 'line', draw: (task) => <RowResult task={task} /> },
      size: {
        width: 90,
        align: 'right',
        phone: 'hidden',
        ...sort('size'),
        draw: (task) => task.file && format.bytes(task.file.size),
      },
      operator: { width: 110, phone: 'hidden', draw: (task) => task.operator_id },
      created: { width: 116, phone: 'hidden', sort: 'created', draw: (task) => time(task.created_at) },
      finished: { width: 116, phone: 'hidden', ...sort('finished'), draw: (task) => time(task.finished_at) },
      took: { width: 92, align: 'right', phone: 'hidden', draw: (task) => tookOf(task, format) },
      id: { width: 270, phone: 'hidden', draw: (task) => <code>{task.task_id}</code> },
    }
    return [
      {
        key: 'file',
        title: t('exports.column.file'),
        phone: 'title',
        ...sort('name'),
        draw: (task) => (
          <Link
            href={`/exports/${task.task_id}`}
            className="exports-row-name"
            title={task.file?.name ?? task.file_name}
          >
            {task.file?.name ?? task.file_name}
          </Link>
        ),
      },
      {
        key: 'status',
        title: t('exports.column.status'),
        width: 112,
        phone: 'status',
        draw: (task) => <StatusPill task={task} />,
      },
      ...CHOICES.filter((key) => chosen.includes(key) && (key !== 'project' || wide)).map((key) => ({
        key,
        title: t(`lists.column.${key}`),
        ...optional[key],
      })),
      {
        key: 'actions',
        title: t('exports.column.actions'),
        width: 84,
        align: 'right',
        phone: 'actions',
        late: true,
        draw: (task) => <ExportActions task={task} />,
      },
    ]
  }, [t, format, projects, chosen, wide])
}

function Time({ at, format }: { at: string | null; format: Format }) {
  if (at === null) return null
  return (
    <time dateTime={at} title={format.exact(at)}>
      {format.moment(at)}
    </time>
  )
}

function tookOf({ started_at, finished_at }: ExportTask, format: Format): string {
  if (started_at === null || finished_at === null) return ''
  const ms = Date.parse(finished_at) - Date.parse(started_at)
  return ms < 0 ? '' : format.duration(ms)
}
