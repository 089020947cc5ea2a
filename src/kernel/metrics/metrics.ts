import { STATUS_CODES } from 'node:http'
import { unforeseenErrors } from '../unforeseen.ts'
import { MetricSet } from './prometheus.ts'

/** From a millisecond to minutes: one statement, one answer. */
const SHORT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30]
/** From a part of a second to a day: work, and the wait for it. */
const LONG = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]

const set = new MetricSet()

/** Everything that this process counts, for `/metrics`. What is written here never names an id, a project or an address. */
export const processMetrics = set.registry

const work: ('domain' | 'kind')[] = ['domain', 'kind']

/**
 * Counts of this process since its start. One set for the whole process, so that any module can count without being
 * handed something to count with; what is asked of the ledger or of a server at the time of a scrape is in `http/metrics.ts`.
 */
export const metrics = {
  tasksAccepted: set.counter('wharf_tasks_accepted_total', 'Requests of callers that became tasks', work),
  jobsAccepted: set.counter('wharf_jobs_accepted_total', 'Jobs that were written into the ledger', work),
  jobsEnded: set.counter('wharf_jobs_ended_total', 'Jobs that ended, by outcome', [...work, 'outcome']),
  jobsPutBack: set.counter(
    'wharf_jobs_put_back_total',
    'Times that a running job went back to the queue, by reason',
    [...work, 'reason'],
  ),
  jobDuration: set.histogram('wharf_job_duration_seconds', 'From acceptance to the end of a job', LONG, work),
  jobQueueAge: set.histogram(
    'wharf_job_queue_age_seconds',
    'From the time that a job is due to its first claim',
    LONG,
    work,
  ),
  leasesLost: set.counter(
    'wharf_leases_lost_total',
    'Jobs whose lease ran out, or was taken over, while this process worked on them',
    work,
  ),
  slots: set.gauge('wharf_worker_slots', 'Jobs that this process works on at once at most, by pool', [
    'pool',
  ]),

  rowsRead: set.counter('wharf_rows_read_total', 'Rows read from sources', ['domain']),
  rowsWritten: set.counter('wharf_rows_written_total', 'Rows written to finished files', ['domain']),
  bytesRead: set.counter('wharf_read_bytes_total', 'Bytes received from sources and uploads', ['domain']),
  bytesWritten: set.counter('wharf_written_bytes_total', 'Bytes of finished files that were stored', [
    'domain',
  ]),
  bytesSent: set.counter('wharf_sent_bytes_total', 'Bytes of files sent to callers', ['domain']),
  damagedFiles: set.counter(
    'wharf_damaged_files_total',
    'Downloads of files that were changed in the store',
    ['domain'],
  ),

  sourceRequests: set.counter(
    'wharf_source_requests_total',
    'Requests to sources, feeds, callbacks and engines, by HTTP status; `none` without an answer',
    ['domain', 'status'],
  ),
  sourceDuration: set.histogram(
    'wharf_source_request_duration_seconds',
    'Time until the head of an answer to such a request',
    SHORT,
    ['domain'],
  ),
  callbacks: set.counter('wharf_callbacks_total', 'Attempts at callbacks, by outcome', ['outcome']),

  delivered: set.counter(
    'wharf_transfer_delivered_bytes_total',
    'Bytes of files that arrived at targets, wherever the target had them from',
  ),

  spans: set.counter('wharf_trace_spans_total', 'Spans of traces: sent to the collector, or dropped', [
    'outcome',
  ]),

  ledgerStatements: set.histogram(
    'wharf_ledger_statement_duration_seconds',
    'Time of one message to the ledger, as this process sees it',
    SHORT,
  ),
  redisCommands: set.histogram(
    'wharf_redis_command_duration_seconds',
    'Time of one command to Redis, without those that wait for something',
    SHORT,
  ),
  redisErrors: set.counter('wharf_redis_errors_total', 'Commands to Redis that failed'),
}

// From the start: a rate over a series that has just appeared misses its first event.
for (const outcome of ['delivered', 'refused', 'unreachable', 'given_up'])
  metrics.callbacks.inc({ outcome }, 0)

/** A status as a label: a source may answer with any number, but not make as many series. */
export function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none'
  return status in STATUS_CODES ? String(status) : 'other'
}

/** What is alive in this process when somebody asks. `watch` answers how to end that. */
class Alive<T> {
  readonly #reads = new Set<() => T>()

  watch(read: () => T): () => void {
    this.#reads.add(read)
    return () => {
      this.#reads.delete(read)
    }
  }

  states(): T[] {
    return [...this.#reads].map((read) => read())
  }
}

export interface PoolState {
  pool: string
  max: number
  open: number
  idle: number
  waiting: number
}

/** Pools of connections to the ledger. */
export const ledgerPools = new Alive<PoolState>()
/** Connections to Redis, and whether each is ready. */
export const redisConnections = new Alive<boolean>()

/** Swarms: how many agents are connected, and how many bytes of files were sent to them since the start. */
export const swarms = new Alive<{ agents: number; egress: number }>()

set.gauge('wharf_agents', 'Agents that are connected to this instance', [], (gauge) => {
  gauge.set(swarms.states().reduce((sum, { agents }) => sum + agents, 0))
})
set.counter(
  'wharf_transfer_egress_bytes_total',
  'Bytes of files that this instance sent to agents',
  [],
  (counter) => {
    counter.reset()
    counter.inc(swarms.states().reduce((sum, { egress }) => sum + egress, 0))
  },
)
set.gauge(
  'wharf_ledger_connections',
  'Connections to the ledger, by pool and state',
  ['pool', 'state'],
  (gauge) => {
    gauge.reset()
    for (const { pool, open, idle } of ledgerPools.states()) {
      gauge.inc({ pool, state: 'idle' }, idle)
      gauge.inc({ pool, state: 'busy' }, open - idle)
    }
  },
)
set.gauge('wharf_ledger_connections_max', 'Most connections of a pool to the ledger', ['pool'], (gauge) => {
  gauge.reset()
  for (const { pool, max } of ledgerPools.states()) gauge.inc({ pool }, max)
})
set.gauge('wharf_ledger_waiting', 'Statements that wait for a connection, by pool', ['pool'], (gauge) => {
  gauge.reset()
  for (const { pool, waiting } of ledgerPools.states()) gauge.inc({ pool }, waiting)
})
set.gauge('wharf_redis_connections', 'Connections to Redis, by state', ['state'], (gauge) => {
  gauge.reset()
  for (const ready of redisConnections.states()) gauge.inc({ state: ready ? 'ready' : 'away' })
})
set.counter(
  'wharf_unforeseen_errors_total',
  'Errors that nobody foresaw; each is a fault of Wharf, and its stack is in the log',
  [],
  (counter) => {
    counter.reset()
    counter.inc(unforeseenErrors())
  },
)
