import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import { type Backoff, WAITS_ON } from '../kernel/index.ts'
import { nullable, Time } from './shapes.ts'
import type { JobsTable } from './tables.ts'

/** What an unfinished job waits for before it is tried again, as callers see it. */
export type WaitingFor = Static<typeof WaitingFor>
/** `next_try_at` is null while it is being tried again. */
export const WaitingFor = Type.Object(
  {
    what: Type.Enum([...WAITS_ON]),
    since: Time,
    code: Type.String(),
    message: Type.String(),
    next_try_at: nullable(Time),
  },
  {
    title: 'WaitingFor',
    description: 'What is away or failing. Waiting for a part of the installation uses up no attempt.',
  },
)

/** Half of each pause is random: hundreds of jobs that met the same outage must not come back at the same moment. */
export const OUTAGE_BACKOFF: Backoff = { base: 1_000, factor: 2, max: 60_000, jitter: 0.5 }

/** The columns of `jobs` that say what a job waits for. */
export const WAITING_COLUMNS = [
  'jobs.outage',
  'jobs.outage_since',
  'jobs.error_code',
  'jobs.error_message',
  'jobs.due_at',
] as const

type WaitingRow = Pick<
  Selectable<JobsTable>,
  'state' | 'outage' | 'outage_since' | 'error_code' | 'error_message' | 'due_at'
>

export function waitingFor(row: WaitingRow): WaitingFor | null {
  if ((row.state !== 'pending' && row.state !== 'waiting') || row.outage === null) return null
  return {
    what: row.outage,
    since: new Date(Number(row.outage_since ?? row.due_at)).toISOString(),
    code: row.error_code ?? '',
    message: row.error_message ?? '',
    next_try_at: new Date(Number(row.due_at)).toISOString(),
  }
}
