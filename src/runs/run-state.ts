import type { Static } from 'typebox'
import type { Job } from '../jobs/index.ts'
import type { RunState as RunStateSchema } from './run-schemas.ts'

/**
 * The states of a run, as snapshots and events show them: `pending` is a place in the lane without a worker yet, so it
 * is still queued. Only the answer to a start is a moment ahead: it says `Running` where a place was free.
 */
export type RunState = Static<typeof RunStateSchema>

/**
 * The states of an account: those of its last run, and `Idle` without one.
 *
 *   Idle ──start, continue──▶ Queued ──turn and room──▶ Running ──▶ Done | Failed | Cancelled
 *     │ ▲                       │  ▲                       │ ▲
 *     │ └────────cancel─────────┘  └──worker died, stop────┘ │
 *     └──start, continue with a free place───────────────────┘
 *
 * `Queued` and `Running` are locked: nothing about the account can be changed but a cancel.
 */
export type AccountState = 'Idle' | RunState

const RUN_STATES = {
  waiting: 'Queued',
  pending: 'Queued',
  running: 'Running',
  succeeded: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<Job['state'], RunState>

export function runState(state: Job['state']): RunState {
  return RUN_STATES[state]
}

/** A run that was taken out of the queue before it began leaves its account as if it had never been asked for. */
export function accountState(job: Pick<Job, 'state' | 'startedAt'>): AccountState {
  return job.state === 'cancelled' && job.startedAt === null ? 'Idle' : runState(job.state)
}

export function isLocked(state: AccountState): boolean {
  return state === 'Queued' || state === 'Running'
}
