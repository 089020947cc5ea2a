import { type Kysely, type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import { activeIn, WAITING_COLUMNS, waitingFor } from '../jobs/index.ts'
import type { Schema } from '../ledger/index.ts'
import { maskUrl } from '../tenancy/index.ts'
import type { AccountParams } from './feed/item-filter.ts'
import { NO_PROGRESS, type RunProgress } from './run-progress.ts'
import type { Account, Run, RunsState } from './run-schemas.ts'
import { accountState, isLocked, runState } from './run-state.ts'
import type { RunOrder } from './run-store.ts'

export type AccountView = Static<typeof Account>
export type RunView = Static<typeof Run>
export type StateView = Static<typeof RunsState>

/** What an account keeps of its last run when the job is deleted. */
export type LastRun = Pick<AccountView, 'state' | 'run_id' | 'progress' | 'error' | 'updated_at'>

type JobRow = Pick<
  Selectable<Schema['jobs']>,
  | 'state'
  | 'progress'
  | 'error_code'
  | 'error_message'
  | 'created_at'
  | 'started_at'
  | 'finished_at'
  | 'payload'
>

type LiveJobRow = JobRow & Parameters<typeof waitingFor>[0]

const JOB_COLUMNS = [
  'jobs.state',
  'jobs.progress',
  ...WAITING_COLUMNS,
  'jobs.created_at',
  'jobs.started_at',
  'jobs.finished_at',
  'jobs.payload',
] as const

export async function readRun(db: Kysely<Schema>, id: string): Promise<RunView | undefined> {
  const row = await runsWithJobs(db).where('runs.id', '=', id).executeTakeFirst()
  return row && toRunView(row)
}

/** The runs of an account, newest first; `before` is the id of the last one that is known. */
export async function readRuns(
  db: Kysely<Schema>,
  handle: string,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<RunView[]> {
  let query = runsWithJobs(db).where('runs.handle', '=', handle).orderBy('runs.id', 'desc').limit(limit)
  if (before !== undefined) query = query.where('runs.id', '<', before)
  return (await query.execute()).map(toRunView)
}

/** One account with its last run. */
export async function readAccount(db: Kysely<Schema>, handle: string): Promise<AccountView | undefined> {
  const row = await db.selectFrom('accounts').selectAll().where('handle', '=', handle).executeTakeFirst()
  if (!row) return undefined
  const job =
    row.run_id === null
      ? undefined
      : await runsWithJobs(db).where('runs.id', '=', row.run_id).executeTakeFirst()
  return toAccountView(row, job)
}

function runsWithJobs(db: Kysely<Schema>) {
  return db
    .selectFrom('runs')
    .innerJoin('jobs', 'jobs.id', 'runs.job_id')
    .select(['runs.id as run_id', ...JOB_COLUMNS])
}

function toRunView(row: LiveJobRow & { run_id: string }): RunView {
  const order = JSON.parse(row.payload) as RunOrder
  return {
    run_id: row.run_id,
    handle: order.handle,
    kind: order.kind,
    url: maskUrl(order.url),
    params: order.params,
    state: runState(row.state),
    progress: progressOf(row),
    error: errorOf(row),
    waiting_for: waitingFor(row),
    created_at: isoTime(row.created_at),
    started_at: row.started_at === null ? null : isoTime(row.started_at),
    finished_at: row.finished_at === null ? null : isoTime(row.finished_at),
  }
}

/** All of it; to be read within one snapshot. */
export async function readState(db: Kysely<Schema>, lane: string): Promise<Omit<StateView, 'seq'>> {
  const limit = await db.selectFrom('lanes').select('max_running').where('name', '=', lane).executeTakeFirst()
  const queue = await db
    .selectFrom('jobs')
    .innerJoin('runs', 'runs.job_id', 'jobs.id')
    .select('runs.id')
    .where('jobs.lane', '=', lane)
    .where(activeIn())
    .where('jobs.state', 'in', ['waiting', 'pending'])
    // Those who have a place already come first; among the others, first come, first served.
    .orderBy(sql`case when jobs.state = 'pending' then 0 else 1 end`)
    .orderBy('jobs.created_at')
    .orderBy('jobs.id')
    .execute()
  const accounts = await db.selectFrom('accounts').selectAll().orderBy('handle').execute()
  const lastRuns = await db
    .selectFrom('accounts')
    .innerJoin('runs', 'runs.id', 'accounts.run_id')
    .innerJoin('jobs', 'jobs.id', 'runs.job_id')
    .select(['accounts.handle', ...JOB_COLUMNS])
    .execute()
  const jobs = new Map(lastRuns.map((row) => [row.handle, row]))
  return {
    max_concurrent: limit?.max_running ?? 0,
    queue: queue.map(({ id }) => id),
    accounts: accounts.map((row) => toAccountView(row, jobs.get(row.handle))),
  }
}

export function lastRunOf(runId: string, job: JobRow): LastRun {
  const state = accountState({ state: job.state, startedAt: job.started_at })
  const idle = state === 'Idle'
  return {
    state,
    run_id: idle ? null : runId,
    progress: idle ? { ...NO_PROGRESS } : progressOf(job),
    error: errorOf(job),
    updated_at: isoTime(job.finished_at ?? job.started_at ?? job.created_at),
  }
}

function toAccountView(row: Selectable<Schema['accounts']>, job: LiveJobRow | undefined): AccountView {
  const changed = isoTime(row.updated_at)
  const last = lastOf(row, job) ?? {
    state: 'Idle' as const,
    run_id: null,
    progress: { ...NO_PROGRESS },
    error: null,
    updated_at: changed,
  }
  return {
    handle: row.handle,
    url: maskUrl(row.url),
    params: JSON.parse(row.params) as AccountParams,
    state: last.state,
    locked: isLocked(last.state),
    run_id: last.run_id,
    progress: last.progress,
    error: last.error,
    waiting_for: job ? waitingFor(job) : null,
    updated_at: [last.updated_at, changed].sort().at(-1) ?? changed,
  }
}

function lastOf(row: Selectable<Schema['accounts']>, job: JobRow | undefined): LastRun | undefined {
  if (job && row.run_id !== null) return lastRunOf(row.run_id, job)
  return row.last_run === null ? undefined : (JSON.parse(row.last_run) as LastRun)
}

/** The rate of a run that nobody works on is that of the moment it was left. */
function progressOf(job: JobRow): RunProgress {
  const progress = { ...NO_PROGRESS, ...(job.progress === null ? {} : JSON.parse(job.progress)) }
  return job.state === 'running' ? progress : { ...progress, rate: 0 }
}

function errorOf(job: JobRow): { code: string; message: string } | null {
  if (job.error_code === null || job.state !== 'failed') return null
  return { code: job.error_code, message: job.error_message ?? '' }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
