import { type Selectable, sql } from 'kysely'
import type { JobState, JobsTable } from './tables.ts'

/**
 * A job is the work for one or many tasks.
 *
 *   waiting ──admit──▶ pending ──claim──▶ running ──┬─▶ succeeded
 *      │                  │ ▲                       ├─▶ failed      (no attempts left, or not worth another)
 *      │                  │ └── retry, release, ────┤
 *      │                  │     outage, lease ended └─▶ cancelled
 *      └──────────────────┴──cancel─────────────────────▶ cancelled
 *
 * `waiting` exists only in lanes with a limit. In a fair lane a job that pauses before it is tried again goes back there
 * instead of to `pending`. A write to a running job must show its fence, which grows with every
 * claim: a worker that was away too long finds its fence outdated and can write nothing.
 */
export interface Job<P = unknown> {
  id: string
  kind: string
  lane: string | null
  owner: string | null
  state: JobState
  payload: P
  progress: unknown
  result: unknown
  error: { code: string; message: string } | null
  attempts: number
  crashes: number
  /** Times in a row that it was put back because a part of the installation was away. */
  outages: number
  fence: number
  dueAt: number
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  /** Where in a caller's trace it was made, as `traceparent`. */
  trace: string | null
}

/**
 * The condition of the partial indexes over unfinished jobs, in their own words. SQLite uses such an index only where a
 * statement repeats its condition, and neither a parameter nor one of the states alone repeats it: without these words
 * a statement reads the whole history.
 */
export function activeIn() {
  return sql<boolean>`jobs.state in ('waiting', 'pending', 'running')`
}

/**
 * The same for a row that is found by its id, in words that no partial index has: PostgreSQL takes such an index for
 * short, and would read all jobs that are pending or running, and all that were since it last tidied up, to find a few.
 */
export function isNow(state: JobState) {
  return sql<boolean>`jobs.state || '' = ${state}`
}

export function isActive(state: JobState): boolean {
  return state === 'waiting' || state === 'pending' || state === 'running'
}

const COLUMNS = [
  'id',
  'kind',
  'lane',
  'owner',
  'state',
  'payload',
  'progress',
  'result',
  'error_code',
  'error_message',
  'attempts',
  'crashes',
  'outages',
  'fence',
  'due_at',
  'created_at',
  'started_at',
  'finished_at',
  'trace',
] as const satisfies (keyof JobsTable)[]

/** What `toJob` needs of a row. */
export type JobRow = Pick<Selectable<JobsTable>, (typeof COLUMNS)[number]>
export const JOB_ROW = sql.raw(COLUMNS.join(', '))

export function toJob<P>(row: JobRow): Job<P> {
  return {
    id: row.id,
    kind: row.kind,
    lane: row.lane,
    owner: row.owner,
    state: row.state,
    payload: JSON.parse(row.payload) as P,
    progress: parse(row.progress),
    result: parse(row.result),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    attempts: row.attempts,
    crashes: row.crashes,
    outages: row.outages,
    fence: row.fence,
    dueAt: row.due_at,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    trace: row.trace,
  }
}

function parse(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}
