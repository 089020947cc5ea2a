import type { Change, Described, JobKind } from '../jobs/index.ts'
import type { RunProgress } from './run-progress.ts'
import { type AccountState, isLocked, type RunState } from './run-state.ts'
import type { RunOrder, RunStore } from './run-store.ts'
import { lastRunOf } from './run-view.ts'
import type { Runner } from './runner.ts'

export const RUN_KIND = 'run'
export const RUN_LANE = 'runs'
const DEFAULT_MAX_CONCURRENT = 3
/** More than any lane limit, which may change at any time. */
const SLOTS = 1_000
const KEPT_MS = 30 * 24 * 3_600_000

/** Runs as the engine sees them: one lane for all instances, first come, first served. */
export function runKind(runner: Pick<Runner, 'run'>, runs: RunStore): JobKind<RunOrder, RunProgress> {
  return {
    name: RUN_KIND,
    domain: 'runs',
    // Runs last for hours: they must not take the slots of quicker work. The lane is their limit.
    pool: RUN_LANE,
    slots: SLOTS,
    lane: { name: RUN_LANE, limit: DEFAULT_MAX_CONCURRENT, policy: 'fifo' },
    keepMs: KEPT_MS,
    run: (context) => runner.run(context),
    describe,
    async onDelete(job) {
      const { run_id } = job.payload
      const row = {
        state: job.state,
        progress: JSON.stringify(job.progress),
        error_code: job.error?.code ?? null,
        error_message: job.error?.message ?? null,
        created_at: job.createdAt,
        started_at: job.startedAt,
        finished_at: job.finishedAt,
        payload: '',
      }
      await runs.archive(job.payload, lastRunOf(run_id, row))
    },
  }
}

const STATES = {
  pending: 'Queued',
  running: 'Running',
  succeeded: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<Exclude<Change['what'], 'progress'>, RunState>

function describe(change: Change, job: Described<RunOrder>): { type: string; data: Record<string, unknown> } {
  const { run_id, handle } = job.payload
  const about = { run_id, handle }
  const progress = change.progress === undefined ? {} : { progress: change.progress }
  if (change.what === 'progress') return { type: 'run_progress', data: { ...about, ...progress } }
  const state = STATES[change.what]
  const account: AccountState = state === 'Cancelled' && job.startedAt === null ? 'Idle' : state
  return {
    type: 'run_state_changed',
    data: {
      ...about,
      state,
      account_state: account,
      locked: isLocked(account),
      error: change.error ?? null,
      ...(change.waitingFor && { waiting_for: change.waitingFor }),
      ...progress,
    },
  }
}
