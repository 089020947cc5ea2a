import { metrics } from '../../kernel/index.ts'
import type { Job } from '../job.ts'

/** A kind of job, as the metrics name it. */
interface Counted {
  name: string
  domain: string
}

export type JobEnd = 'succeeded' | 'failed' | 'cancelled'
/**
 * Why a running job went back: its handler failed, a part is away, this process stops, or its worker was lost. Of a
 * processing task only that it was queued again is known.
 */
export type PutBack = 'failed' | 'outage' | 'released' | 'worker_lost' | 'requeued'

const OUTCOMES: readonly JobEnd[] = ['succeeded', 'failed', 'cancelled']

const labelsOf = ({ name, domain }: Counted) => ({ domain, kind: name })

/** Counts what becomes of jobs. Times are the ledger's. To be called after the commit of what it counts. */
export const jobMeter = {
  /** Begins with zeros: a rate over a series that has just appeared misses its first event. */
  known(kind: Counted): void {
    const labels = labelsOf(kind)
    for (const counter of [metrics.jobsAccepted, metrics.tasksAccepted, metrics.leasesLost])
      counter.inc(labels, 0)
    for (const outcome of OUTCOMES) metrics.jobsEnded.inc({ ...labels, outcome }, 0)
  },

  accepted(kind: Counted, { jobs, tasks }: { jobs: number; tasks: number }): void {
    if (jobs > 0) metrics.jobsAccepted.inc(labelsOf(kind), jobs)
    if (tasks > 0) metrics.tasksAccepted.inc(labelsOf(kind), tasks)
  },

  /** Only the first claim shows how long a job waited. */
  claimed(kind: Counted, { attempts, crashes, outages, dueAt, startedAt }: Job): void {
    if (attempts > 1 || crashes > 0 || outages > 0 || startedAt === null) return
    metrics.jobQueueAge.observe(labelsOf(kind), seconds(startedAt - dueAt))
  },

  ended(kind: Counted, outcome: JobEnd, tookMs: number): void {
    const labels = labelsOf(kind)
    metrics.jobsEnded.inc({ ...labels, outcome })
    metrics.jobDuration.observe(labels, seconds(tookMs))
  },

  putBack(kind: Counted, reason: PutBack): void {
    metrics.jobsPutBack.inc({ ...labelsOf(kind), reason })
  },

  leaseLost(kind: Counted): void {
    metrics.leasesLost.inc(labelsOf(kind))
  },
}

/** Clocks may be set back. */
function seconds(ms: number): number {
  return Math.max(0, Number(ms)) / 1_000
}
