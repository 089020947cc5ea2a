import type { EventMessage, Task, TaskLog, TaskPage, Ticket } from '../../../src/http/wire.ts'
import { ask } from './client.ts'

export type { Task, TaskLog, TaskPage }
export type TaskStatus = Task['status']

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

export const getTask = (taskId: string, signal: AbortSignal): Promise<Task> => ask(pathOf(taskId), { signal })

export const getTaskLog = (taskId: string, signal: AbortSignal): Promise<TaskLog> =>
  ask(`${pathOf(taskId)}/log`, { signal })

export const getTaskEvents = (taskId: string, signal: AbortSignal): Promise<{ items: EventMessage[] }> =>
  ask(`${pathOf(taskId)}/events`, { signal })

/** A new task of the same file. */
export const retryTask = (taskId: string, attempt: string): Promise<Task> =>
  ask(`${pathOf(taskId)}/retry`, { method: 'POST', attempt })

export const deleteTask = (taskId: string): Promise<null> =>
  ask(`${pathOf(taskId)}/record`, { method: 'DELETE' })

export const cancelTask = (taskId: string): Promise<null> => ask(pathOf(taskId), { method: 'DELETE' })

/** An address that a browser can open by itself, good for a quarter of an hour. */
export async function resultAddress(taskId: string): Promise<string> {
  const { ticket } = await ask<Ticket>(`${pathOf(taskId)}/ticket`, { method: 'POST' })
  return `${pathOf(taskId)}/result?${new URLSearchParams({ ticket })}`
}
