import { Completed, type JobContext, type JobKind } from '../../jobs/index.ts'
import { AppError, ERRORS, isAppError, orAborted } from '../../kernel/index.ts'
import type { ProcessorSettings } from '../processing-options.ts'
import type { TaskRows } from '../stores/index.ts'
import { ERROR_CHARACTERS, TASK_KIND, TEXT } from '../task.ts'
import { processorCommand } from './run-command.ts'
import { runOnce, type TaskRunOptions } from './task-run.ts'

export interface TaskKindOptions {
  /** null: no command is configured, and the tasks wait. */
  processor: ProcessorSettings | null
  /** How often a server may die over a task before the task fails. */
  maxReturns: number
}

/**
 * A task of a Wharf without Redis, as a job of the engine with the task's id. Its lane keeps the order and the number at
 * once; claims, retries, outages and crashes are the engine's. The row follows in the transactions of the job:
 *
 *   PENDING ──first run──▶ PROCESSING ──┬─▶ COMPLETED, FAILED   with the end of the job
 *      ▲                       │        └─▶ FAILED              on cancel, which also stops the job
 *      └──the server stops─────┘
 *
 * It stays PROCESSING while the job pauses before another try.
 */
export function taskKind(rows: TaskRows, { processor, maxReturns }: TaskKindOptions): JobKind<null, null> {
  const { name, domain } = TASK_KIND
  const options = processor && { ...processor, command: processorCommand(processor.command) }
  return {
    name,
    domain,
    pool: name,
    ...(processor && { slots: processor.concurrency }),
    lane: { name, policy: 'fifo', limit: { perInstance: processor?.concurrency ?? 0 } },
    maxAttempts: 1 + (processor?.retries ?? 0),
    maxCrashes: 1 + maxReturns,
    // All that is to be known of an ended task is in its row.
    keepMs: 0,
    run: (context) =>
      // One that was admitted while there was a command waits for the next server.
      options ? runJob(rows, context, options) : orAborted(new Promise<never>(() => {}), context.signal),
    async onEnded(tx, { jobId, change: { what, error } }) {
      if (what !== 'failed') return
      const gaveUp = error?.code === ERRORS.JOB_WORKER_LOST.code
      const message = gaveUp ? TEXT.gaveUp(maxReturns) : (error?.message ?? '')
      await rows.changeIn(tx, jobId, {
        status: 'FAILED',
        error_message: message.slice(0, ERROR_CHARACTERS),
      })
    },
  }
}

async function runJob(rows: TaskRows, context: JobContext<null>, options: TaskRunOptions) {
  const { job, signal, log } = context
  const { id: taskId } = job
  const row = await rows.get(taskId)
  // Nothing is left to do for a task that has expired, or that ended while the tasks were in Redis.
  if (row?.status !== 'PENDING' && row?.status !== 'PROCESSING') return null
  const move = (status: 'PENDING' | 'PROCESSING') =>
    context.transaction((tx) =>
      rows.changeIn(tx, taskId, { status }, status === 'PENDING' ? ['PROCESSING'] : ['PENDING']),
    )
  if (row.status === 'PENDING') await move('PROCESSING')
  try {
    const resultPath = await runOnce(
      {
        ...{ taskId, input: row.original_file_path, signal, log },
        onProgress: (value) => context.progress(value),
        async stillMine() {
          const mine = await context.transaction((tx) => rows.changeIn(tx, taskId, {}, ['PROCESSING']))
          if (!mine) throw new AppError(ERRORS.JOB_CANCELLED, `task ${taskId} has ended`)
          return true
        },
      },
      options,
    )
    return new Completed(null, async (tx) => {
      await rows.changeIn(tx, taskId, { status: 'COMPLETED', result_path: resultPath })
    })
  } catch (error) {
    if (isAppError(signal.reason, ERRORS.SHUTTING_DOWN)) await move('PENDING')
    throw error
  }
}
