import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { namesOf } from '../../../api/export-texts.ts'
import type { ExportTask } from '../../../api/exports.ts'
import { addressOf } from '../../../live/page-address.ts'
import { useProjectName } from '../../../live/project.ts'
import type { WindowColumn } from '../../../parts/table/window-table.tsx'
import { type Format, useFormat } from '../../../parts/text/format.ts'
import { ExportActions } from '../actions.tsx'
import { StatusPill } from '../status-pill.tsx'
import { RowResult } from './row-result.tsx'

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

/**
 * The columns of the list. `wide`: over all projects, which can be sorted by their age alone; `ended`: what ended of late, which can be
 * sorted by its end alone.
 */
export function useColumns(
  chosen: readonly Choice[],
  { wide, ended }: { wide: boolean; ended: boolean },
): readonly WindowColumn<ExportTask>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const projectName = useProjectName()
  return useMemo(() => {
    const time = (at: string | null) => <Time at={at} format={format} />
    const sort = (name: string) => {
      const can = ended ? name === 'finished' : !wide || name === 'created'
      return can ? { sort: name } : {}
    }
    const optional: Record<Choice, Omit<WindowColumn<ExportTask>, 'key' | 'title'>> = {
      project: { width: 96, phone: 'hidden', draw: (task) => projectName(task.project_id) },
      type: { width: 100, phone: 'hidden', draw: (task) => t(`exports.type.${task.type}`) },
      result: { phone: 'line', draw: (task) => <RowResult task={task} /> },
      size: {
        width: 88,
        align: 'right',
        phone: 'hidden',
        ...sort('size'),
        // Of a file that is there.
        draw: (task) => task.file && task.download_url !== null && format.bytes(task.file.size),
      },
      operator: { width: 96, phone: 'hidden', draw: (task) => task.operator_id },
      created: { width: 104, phone: 'hidden', ...sort('created'), draw: (task) => time(task.created_at) },
      finished: { width: 104, phone: 'hidden', ...sort('finished'), draw: (task) => time(task.finished_at) },
      took: { width: 92, align: 'right', phone: 'hidden', draw: (task) => tookOf(task, format) },
      id: { width: 270, phone: 'hidden', draw: (task) => <code>{task.task_id}</code> },
    }
    return [
      {
        key: 'file',
        title: t('exports.column.file'),
        phone: 'title',
        ...sort('name'),
        draw: (task) => <Name task={task} />,
      },
      {
        key: 'status',
        title: t('exports.column.status'),
        width: 120,
        phone: 'status',
        draw: (task) => <StatusPill task={task} />,
      },
      ...CHOICES.filter((key) => chosen.includes(key) && (key !== 'project' || wide)).map((key) => ({
        key,
        title: t(`lists.column.${key}`),
        ...optional[key],
      })),
      {
        // Several of one name are told apart by it; a wider screen has columns for each.
        key: 'told-apart',
        title: '',
        phone: 'only',
        draw: (task) => (
          <>
            {time(task.created_at)}
            {[t(`exports.type.${task.type}`), task.operator_id, wide && projectName(task.project_id)]
              .filter(Boolean)
              .map((text) => ` · ${text}`)}
          </>
        ),
      },
      {
        key: 'actions',
        title: t('exports.column.actions'),
        width: 76,
        align: 'right',
        phone: 'actions',
        late: true,
        draw: (task) => <ExportActions task={task} />,
      },
    ]
  }, [t, format, projectName, chosen, wide, ended])
}

function Name({ task }: { task: ExportTask }) {
  const { name, about } = namesOf(task)
  return (
    <>
      <Link
        href={addressOf('/exports', task.task_id)}
        className="exports-row-name"
        title={[name, about].filter(Boolean).join('\n')}
      >
        {name}
      </Link>
      {about !== '' && <span className="exports-row-about"> {about}</span>}
    </>
  )
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
