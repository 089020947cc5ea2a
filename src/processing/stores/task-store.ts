import type { WaitingFor } from '../../jobs/index.ts'
import type { NewTask, OneTry, TaskDetails, TaskRecord } from '../task.ts'

/** Callers' side of tasks: make, ask, take back. Two adapters, one contract suite. */
export interface TaskStore {
  /**
   * Record and place in the queue, both or neither. Answers false when a task with this id exists already.
   * Throws TASK_ENQUEUE_FAILED when the record now says FAILED. After any outage it may have been made: `isMade` says so.
   */
  create(task: NewTask): Promise<boolean>
  /** Whether a task was made, as the ledger knows it: after an outage in `create` nobody else does. */
  isMade(id: string): Promise<boolean>
  get(id: string): Promise<TaskRecord | undefined>
  details(id: string): Promise<TaskDetails | undefined>
  /** What is away that no unfinished task can go on without, as far as this instance knows. */
  away(): WaitingFor | undefined
  /** Ends a task that has not ended. Its processor notices at its next touch. */
  cancel(id: string): Promise<'cancelled' | 'ended' | 'unknown'>
  /** Forgets a task, unless it has been made anew since. Its files must be gone before. */
  remove(task: OneTry): Promise<void>
  /** True if tasks can be made. */
  ping(): Promise<boolean>
}
