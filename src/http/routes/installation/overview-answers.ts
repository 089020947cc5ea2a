import { type Static, type TSchema, Type } from 'typebox'
import {
  DomainOverview,
  Failure,
  InstanceOverview,
  OVERVIEW_RANGES,
  type OverviewRange,
  WaitingFor,
} from '../../../jobs/index.ts'
import { nullable, Time } from '../schemas.ts'

const byDomain = <T extends TSchema>(schema: T) =>
  Type.Object({ exports: schema, transfers: schema, runs: schema, processing: schema })

export type OverviewAnswer = Static<typeof OverviewAnswer>
export const OverviewAnswer = Type.Object(
  {
    at: Time,
    domains: byDomain(DomainOverview),
    instances: Type.Array(InstanceOverview),
    leader: nullable(Type.String()),
  },
  { title: 'Overview' },
)

export const HistoryRange = Type.Enum(Object.keys(OVERVIEW_RANGES) as OverviewRange[], {
  title: 'OverviewRange',
})

export type HistoryAnswer = Static<typeof HistoryAnswer>
export const HistoryAnswer = Type.Object(
  {
    range: HistoryRange,
    step_seconds: Type.Integer(),
    domains: byDomain(
      Type.Object(
        {
          finished: Type.Integer({ description: 'Ended well' }),
          failed: Type.Integer(),
          steps: Type.Array(
            Type.Object({ at: Time, finished: Type.Integer(), failed: Type.Integer() }, { title: 'Ends' }),
            { description: 'Oldest first; the last one is not over' },
          ),
        },
        { title: 'DomainHistory' },
      ),
    ),
  },
  { title: 'OverviewHistory' },
)

const NoticedFields = {
  id: Type.String({ description: 'A task, a delivery, or the handle of an account' }),
  name: Type.String(),
  project_id: nullable(Type.String()),
}

export type AttentionAnswer = Static<typeof AttentionAnswer>
export const AttentionAnswer = Type.Object(
  {
    domains: byDomain(
      Type.Object(
        {
          failures: Type.Array(
            Type.Object(
              {
                ...NoticedFields,
                at: Time,
                error: Failure,
                targets: Type.Optional(
                  Type.Object(
                    { total: Type.Integer(), failed: Type.Integer(), error_code: Type.Integer() },
                    { description: 'Of a delivery: how many failed, and the code that most of them have' },
                  ),
                ),
              },
              { title: 'NoticedFailure' },
            ),
            { description: 'The last five, newest first' },
          ),
          waiting: Type.Array(
            Type.Object(
              { ...NoticedFields, at: Time, waiting_for: nullable(WaitingFor) },
              { title: 'NoticedWait' },
            ),
            { description: 'The five that wait longest; `at` is when they were asked for' },
          ),
        },
        { title: 'DomainAttention' },
      ),
    ),
  },
  { title: 'Attention' },
)

export type HealthAnswer = Static<typeof HealthAnswer>
export const HealthAnswer = Type.Object(
  {
    at: Time,
    findings: Type.Array(
      Type.Object(
        {
          check: Type.Enum(['settings', 'server', 'ledger', 'redis', 'store', 'clock', 'disk', 'backup']),
          level: Type.Enum(['ok', 'warn', 'fail']),
          message: Type.String(),
          kind: Type.Optional(Type.String({ description: 'which sentence it is, for other languages' })),
          values: Type.Optional(
            Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
              description: 'what is put into it; `_ms` are times, `_bytes` sizes',
            }),
          ),
        },
        { title: 'Finding' },
      ),
    ),
  },
  { title: 'InstallationHealth' },
)
