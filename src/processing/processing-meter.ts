import { jobMeter } from '../jobs/index.ts'
import { metrics } from '../kernel/index.ts'
import { TASK_KIND, TEXT } from './task.ts'

const DOMAIN = { domain: TASK_KIND.domain }

jobMeter.known(TASK_KIND)

/** `isJob`: the engine counts the job of the task by itself. */
export function countAccepted(bytes: number, isJob: boolean): void {
  jobMeter.accepted(TASK_KIND, { jobs: isJob ? 0 : 1, tasks: 1 })
  metrics.bytesRead.inc(DOMAIN, bytes)
}

/** After the commit of a change to a task that is no job of the engine. Times are the ledger's. */
export function countChange(
  status: string | undefined,
  row: {
    created_at: number
    queued_at: number
    updated_at: number
    error_message: string
    returns: number
  },
): void {
  if (status === 'PROCESSING' && row.returns === 0)
    metrics.jobQueueAge.observe(
      { ...DOMAIN, kind: TASK_KIND.name },
      Math.max(0, row.updated_at - row.queued_at) / 1_000,
    )
  if (status === 'PENDING') jobMeter.putBack(TASK_KIND, 'requeued')
  if (status !== 'COMPLETED' && status !== 'FAILED') return
  const failed = row.error_message === TEXT.cancelled ? 'cancelled' : 'failed'
  jobMeter.ended(TASK_KIND, status === 'COMPLETED' ? 'succeeded' : failed, row.updated_at - row.created_at)
}

export function countResult(bytes: number): void {
  metrics.bytesWritten.inc(DOMAIN, bytes)
}
