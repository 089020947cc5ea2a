import { jobMeter } from '../jobs/index.ts'
import { metrics } from '../kernel/index.ts'
import { TEXT } from './task.ts'

/** Tasks of processing are no jobs of the engine, but are counted like them. */
const KIND = { name: 'processing', domain: 'processing' }
const DOMAIN = { domain: 'processing' }

jobMeter.known(KIND)

export function countAccepted(bytes: number): void {
  jobMeter.accepted(KIND, { jobs: 1, tasks: 1 })
  metrics.bytesRead.inc(DOMAIN, bytes)
}

/** After the commit of a change. Times are the ledger's, sizes those of a result file. */
export function countChange(
  status: string | undefined,
  row: {
    created_at: number
    queued_at: number
    updated_at: number
    error_message: string
    returns: number
    resultSize: number
  },
): void {
  if (status === 'PROCESSING' && row.returns === 0)
    metrics.jobQueueAge.observe(
      { ...DOMAIN, kind: KIND.name },
      Math.max(0, row.updated_at - row.queued_at) / 1_000,
    )
  if (status === 'PENDING') jobMeter.putBack(KIND, 'requeued')
  if (status !== 'COMPLETED' && status !== 'FAILED') return
  const failed = row.error_message === TEXT.cancelled ? 'cancelled' : 'failed'
  jobMeter.ended(KIND, status === 'COMPLETED' ? 'succeeded' : failed, row.updated_at - row.created_at)
  metrics.bytesWritten.inc(DOMAIN, row.resultSize)
}
