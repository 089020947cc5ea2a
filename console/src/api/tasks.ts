import { ask } from './client.ts'

export type TaskStatus = 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED'

export interface Task {
  task_id: string
  status: TaskStatus
  file_name: string
  size: number
  progress: number | null
  error_message: string | null
  result_url: string | null
  created_at: string
  updated_at: string
  expires_at: string | null
}

export interface TaskPage {
  items: Task[]
  next_cursor: string | null
}

export const UPLOADS = '/api/uploads'

export function listTasks(
  status: TaskStatus | undefined,
  { cursor, signal }: { cursor: string | null; signal: AbortSignal },
): Promise<TaskPage> {
  const query = new URLSearchParams({ limit: '25' })
  if (status) query.set('status', status)
  if (cursor) query.set('cursor', cursor)
  return ask(`/api/tasks?${query}`, { signal })
}

const pathOf = (taskId: string) => `/api/tasks/${encodeURIComponent(taskId)}`

export const cancelTask = (taskId: string): Promise<null> => ask(pathOf(taskId), { method: 'DELETE' })

/** An address that a browser can open by itself, good for a quarter of an hour. */
export async function resultAddress(taskId: string): Promise<string> {
  const { ticket } = await ask<{ ticket: string }>(`${pathOf(taskId)}/ticket`, { method: 'POST' })
  return `${pathOf(taskId)}/result?${new URLSearchParams({ ticket })}`
}
