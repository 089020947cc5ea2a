import { type Static, Type } from 'typebox'
import { nullable, Time, WaitingFor } from '../jobs/index.ts'
import { hasEnded, type TaskDetails, TaskStatus } from './task.ts'

/** A task as callers see it over HTTP. */
export type TaskView = Static<typeof TaskView>
export const TaskView = Type.Object(
  {
    task_id: Type.String(),
    status: TaskStatus,
    file_name: Type.String(),
    size: Type.Number(),
    progress: nullable(Type.Number()),
    error_message: nullable(Type.String()),
    result_url: nullable(Type.String()),
    created_at: Time,
    updated_at: Time,
    expires_at: nullable(Time),
    waiting_for: nullable(WaitingFor),
  },
  { title: 'Task' },
)

export function toTaskView(task: TaskDetails): TaskView {
  const { taskId, status } = task
  return {
    task_id: taskId,
    status,
    file_name: task.fileName,
    size: task.size,
    progress: status === 'COMPLETED' ? 1 : task.progress,
    error_message: task.errorMessage || null,
    result_url: status === 'COMPLETED' ? `/api/tasks/${encodeURIComponent(taskId)}/result` : null,
    created_at: new Date(task.createdAt * 1000).toISOString(),
    updated_at: new Date(task.updatedAt * 1000).toISOString(),
    expires_at: task.expiresAt > 0 ? new Date(task.expiresAt).toISOString() : null,
    waiting_for: hasEnded(status) ? null : (task.waitingFor ?? null),
  }
}

/** What the command of a task printed. */
export type TaskLogView = Static<typeof TaskLogView>
export const TaskLogView = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        { at: Time, stream: Type.Enum(['stdout', 'stderr']), line: Type.String() },
        { title: 'TaskLogLine' },
      ),
    ),
    left_out: Type.Integer({ description: 'Lines after the first hundred that are not kept' }),
  },
  { title: 'TaskLog' },
)
