import { Type } from 'typebox'

import { nullable, pageOf, Time, WaitingFor } from '../schemas.ts'

export const TaskState = Type.Enum(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'], { title: 'TaskState' })

export const TaskView = Type.Object(
  {
    task_id: Type.String(),
    status: TaskState,
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

export const TaskPage = pageOf(TaskView, 'TaskPage')
