import type { TaskReport } from '../task.ts'

/** One task in the hands of one slot of a processor. */
export interface Claim {
  readonly taskId: string
  readonly originalFilePath: string
  readonly slot: number
  /** Where in a caller's trace the task was made, as `traceparent`. */
  readonly trace?: string
}

export type TaskEnd = { status: 'COMPLETED'; resultPath: string } | { status: 'FAILED'; errorMessage: string }

/**
 * A processor's side of tasks: claim, say that one is alive, let go. Two adapters, one contract suite. A slot holds at
 * most one claim, and every call about a claim answers false once the task is no longer this slot's.
 */
export interface TaskQueue {
  /** Waits for a task, a while at most; undefined when none came. */
  claim(slot: number, signal: AbortSignal): Promise<Claim | undefined>
  touch(claim: Claim, report: TaskReport | null): Promise<boolean>
  finish(claim: Claim, end: TaskEnd): Promise<boolean>
  /** Back to the head of the queue, as if it had never been claimed. */
  release(claim: Claim): Promise<boolean>
  /** Says that the processor is alive. */
  heartbeat(): Promise<void>
  /** Gives back whatever the processor still has, and ends. */
  close(): Promise<void>
}
