import { Type } from 'typebox'
import { OVERVIEW_MINUTES } from '../../../jobs/index.ts'
import { nullable, Time } from '../schemas.ts'

const Domain = Type.Object(
  {
    queued: Type.Integer(),
    running: Type.Integer(),
    finished_last_hour: Type.Integer({ description: 'Ended well' }),
    failed_last_hour: Type.Integer(),
    per_minute: Type.Array(Type.Object({ minute: Time, finished: Type.Integer(), failed: Type.Integer() }), {
      description: `The last ${OVERVIEW_MINUTES} minutes, oldest first; the last one is not over`,
    }),
    duration_ms: Type.Union([Type.Object({ p50: Type.Integer(), p95: Type.Integer() }), Type.Null()], {
      description:
        'From the request to the end, of the last 2,000 that ended well within the hour; null: nothing did',
    }),
  },
  { title: 'DomainOverview' },
)

const Instance = Type.Object(
  {
    instance_id: Type.String(),
    host: Type.String(),
    version: Type.String(),
    started_at: Time,
    seen_at: Time,
    leader: Type.Boolean(),
  },
  { title: 'Instance' },
)

export const OverviewAnswer = Type.Object(
  {
    at: Time,
    domains: Type.Object({ exports: Domain, transfers: Domain, runs: Domain, processing: Domain }),
    instances: Type.Array(Instance),
    leader: nullable(Type.String()),
  },
  { title: 'Overview' },
)
