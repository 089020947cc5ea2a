import type { AppError } from '../kernel/index.ts'
import type { LinkIssuer } from '../tenancy/index.ts'

/** The end of a task, for people. */
export interface TaskNotice {
  status: string
  succeeded: boolean
  /** Of the file, or what was asked for. */
  name: string
  /** What it calls itself. */
  title: string | null
  rows: number | null
  bytes: number | null
  /** Null when there is no file. */
  link: string | null
  linkUntil: number | null
  /** How often the file may be fetched by link; null: as often as one likes. */
  linkUses: number | null
  /** IANA name of the zone whose clock its times are told by. */
  timezone: string
  /** What its readers should know of the file, in the languages of notices. */
  warnings: Readonly<Record<'en' | 'zh', string>>[]
  /** Why there is no file, in the languages of notices. */
  error: Readonly<Record<'en' | 'zh', string>> | null
  taskId: string
}

/** How a task of one kind looks to others than its own routes. */
interface TaskView {
  /** As a GET of the task answers this caller. */
  get(taskId: string, issuer?: LinkIssuer): Promise<object>
  /** What a callback carries. Without it, tasks of this kind have no callbacks. */
  callback?(taskId: string): Promise<{ status: string }>
  /** The content of notices to people; undefined when the task is gone. Without it, tasks of this kind have no notices. */
  notice?(taskId: string): Promise<TaskNotice | undefined>
  /** For tasks that are not in the engine's table: whether an id is one of theirs. */
  owns?(taskId: string): boolean
  /** The error for an id without a task. */
  missing?(taskId: string): AppError
}

/** By kind of job. */
export type TaskViews = Readonly<Record<string, TaskView>>
