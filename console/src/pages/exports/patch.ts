import type { QueryClient } from '@tanstack/react-query'
import type { LiveEvent } from '../../api/events.ts'
import type { ExportPage, ExportTask } from '../../api/exports.ts'
import type { Patch } from '../../live/patch.ts'
import { Rates } from '../../live/rates.ts'

/** Rows a second of what is being fetched. */
export const exportRates = new Rates()

type ExportEvent = LiveEvent &
  Partial<Pick<ExportTask, 'status' | 'stage' | 'progress' | 'error' | 'waiting_for'>>

/**
 * Progress says enough and is put into what was read; a change of status is put there too, and read again besides,
 * because it changes more than the event says (the file, the place in a filtered list).
 */
export const patchExports: Patch = (event: ExportEvent, client, refresher) => {
  const { type, task_id: taskId } = event
  if (!type.startsWith('export.') || taskId === null) return
  if (event.progress) exportRates.note(taskId, event.progress.fetched, Date.parse(event.at))
  const shown = client.getQueryData<ExportTask>(['export', taskId])
  patchTask(client, taskId, (task) => changed(task, event))
  if (type === 'export.progress') {
    // Its history has the stages and what each waits for, not every word of progress.
    if (shown && (shown.stage !== event.stage || !shown.waiting_for !== !event.waiting_for))
      refresher.refresh(['export', taskId, 'events'])
    return
  }
  if (event.status !== 'processing') exportRates.forget(taskId)
  refresher.refresh(['exports'])
  refresher.refresh(['export', taskId])
}

function changed(task: ExportTask, event: ExportEvent): ExportTask {
  // What was read may be newer than a word of progress that comes after it.
  if (event.type === 'export.progress' && task.finished_at !== null) return task
  const { status, stage, progress, error, waiting_for } = event
  return {
    ...task,
    waiting_for: waiting_for ?? null,
    ...(status && { status }),
    ...(stage && { stage }),
    ...(progress && { progress }),
    ...(error && { error }),
  }
}

/** Changes one task wherever it was read: in lists, and by itself. */
export function patchTask(
  client: QueryClient,
  taskId: string,
  change: (task: ExportTask) => ExportTask,
): void {
  client.setQueriesData<ExportPage>({ queryKey: ['exports'] }, (page) => {
    if (!page?.items.some((item) => item.task_id === taskId)) return page
    return { ...page, items: page.items.map((item) => (item.task_id === taskId ? change(item) : item)) }
  })
  client.setQueryData<ExportTask>(['export', taskId], (task) => task && change(task))
}
