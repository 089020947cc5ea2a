import { type Static, Type } from 'typebox'
import type { WaitingFor } from '../jobs/index.ts'
import { AppError, type AppErrorOptions, type ErrorKind } from '../kernel/index.ts'

/** What the metrics call tasks; where they are jobs of the engine, also the name of their kind, pool and lane. */
export const TASK_KIND = { name: 'processing', domain: 'processing' }

/** The length of the longest `error_message`. */
export const ERROR_CHARACTERS = 4_000

/** As in `proto/task/v1/task.proto`; in Redis the same words. */
export type TaskStatus = Static<typeof TaskStatus>
export const TaskStatus = Type.Enum(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'], { title: 'TaskState' })

/** What processors and callers see of a task. Times are whole seconds since 1970, as they stand in Redis. */
export interface TaskRecord {
  taskId: string
  status: TaskStatus
  originalFilePath: string
  /** '' unless COMPLETED. */
  resultPath: string
  /** '' unless FAILED. */
  errorMessage: string
  createdAt: number
  updatedAt: number
}

/** What is known of a task besides its record. */
export interface TaskDetails extends TaskRecord {
  /** Whose upload it was; null for a task that was made over gRPC. */
  projectId: string | null
  fileName: string
  size: number
  /** 0 to 1, if the processor reports it. */
  progress: number | null
  /** Milliseconds since 1970. */
  expiresAt: number
  /** What is away that it cannot go on without. */
  waitingFor?: WaitingFor
}

/** What a processor last said of a task: how far it is, from 0 to 1, or what it waits for. */
export type TaskReport = number | WaitingFor

export function writeReport(report: TaskReport): string {
  return typeof report === 'number' ? String(report) : JSON.stringify(report)
}

/** Other programs may have written anything. */
export function readReport(text: string | null): Pick<TaskDetails, 'progress' | 'waitingFor'> {
  if (text?.startsWith('{')) {
    try {
      return { progress: null, waitingFor: JSON.parse(text) as WaitingFor }
    } catch {
      return { progress: null }
    }
  }
  const progress = Number(text ?? Number.NaN)
  return { progress: Number.isFinite(progress) ? progress : null }
}

/** A task, and which try of it: an upload that could not be made a task is completed again under the same id. */
export interface OneTry {
  id: string
  originalFilePath: string
  /** By the ledger's clock, in milliseconds. */
  createdAt: number
}

export interface NewTask {
  id: string
  projectId: string | null
  fileName: string
  size: number
  originalFilePath: string
  /** Where in a caller's trace it was made, as `traceparent`. */
  trace?: string | null
}

/** Words that callers and operators compare with: they are part of the contract. */
export const TEXT = {
  emptyField: (field: string) => `${field} 不能为空`,
  badTempPath: 'temp_file_path 无效：必须是临时目录内的普通文件',
  notFound: '任务ID不存在',
  handOffFailed: '文件交接失败',
  storeUnavailable: '无法连接到状态存储服务，请稍后重试',
  enqueueFailed: '任务入队失败',
  cancelled: '任务已取消',
  gaveUp: (times: number) => `处理器失联，任务已重新入队 ${times} 次仍未完成`,
  inputGone: '原始文件不存在',
  noResult: '处理器已结束，但未给出结果文件路径',
} as const

const ENGLISH = {
  badTempPath: 'temp_file_path is not valid: it must be a plain file in the temp dir',
  notFound: 'there is no such task',
  handOffFailed: 'the file could not be taken over',
  storeUnavailable: 'the store of tasks cannot be reached; try again in a moment',
  enqueueFailed: 'the task could not be queued',
  inputGone: 'the original file is gone',
} as const satisfies Partial<Record<keyof typeof TEXT, string>>

/** Says it in the fixed words over gRPC and in records, and over HTTP in the caller's language. */
export function taskError(
  kind: ErrorKind,
  text: keyof typeof ENGLISH,
  options: AppErrorOptions = {},
): AppError {
  return new AppError(kind, TEXT[text], { ...options, words: { en: ENGLISH[text] } })
}

export function isTaskStatus(value: string | null | undefined): value is TaskStatus {
  return TaskStatus.enum.some((status) => status === value)
}

export function hasEnded(status: TaskStatus): boolean {
  return status === 'COMPLETED' || status === 'FAILED'
}

/** An entry of the queue. The same task always gives the same text, so that it can be found and taken out again. */
export function encodeMessage(taskId: string, originalFilePath: string): string {
  return JSON.stringify({ task_id: taskId, original_file_path: originalFilePath })
}

export function decodeMessage(text: string): { taskId: string; originalFilePath: string } | undefined {
  try {
    const { task_id, original_file_path } = JSON.parse(text) as Record<string, unknown>
    if (typeof task_id !== 'string' || typeof original_file_path !== 'string') return undefined
    return { taskId: task_id, originalFilePath: original_file_path }
  } catch {
    return undefined
  }
}
