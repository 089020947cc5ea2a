import type { InfiniteData } from '@tanstack/react-query'
import type { TaskPage, TaskStatus } from '../../api/tasks.ts'
import type { Patch } from '../../live/patch.ts'

export const TASKS_KEY = ['tasks'] as const
/** The page of one task: its id comes next. */
export const TASK_KEY = ['task'] as const

/** A new status is shown at once, and read again besides: the result and the error come with it. */
export const patchTasks: Patch = (event, client, refresher) => {
  const { type, task_id: taskId } = event
  if (!type.startsWith('processing.')) return
  const status = event.status as TaskStatus | undefined
  if (status)
    client.setQueriesData<InfiniteData<TaskPage>>({ queryKey: TASKS_KEY }, (data) => {
      if (!data?.pages.some(({ items }) => items.some((item) => item.task_id === taskId))) return data
      const pages = data.pages.map((page) => ({
        ...page,
        items: page.items.map((item) => (item.task_id === taskId ? { ...item, status } : item)),
      }))
      return { ...data, pages }
    })
  refresher.refresh(TASKS_KEY)
  if (taskId) refresher.refresh([...TASK_KEY, taskId])
}
