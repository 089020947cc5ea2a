import { Type } from 'typebox'
import { Failure, nullable, Time } from '../schemas.ts'
import { ExportRequestBody, ExportState } from './export-schemas.ts'

/** Of a template or a saved export. */
export const OneName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })

export const DryRun = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Check it and say what would be done; store nothing' })),
})

export const Applied = Type.Object(
  {
    name: Type.String(),
    outcome: Type.Enum(['created', 'changed', 'unchanged']),
  },
  { title: 'Applied' },
)

const Schedule = Type.Object(
  {
    cron: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'minute, hour, day, month, weekday; or @daily and the like',
    }),
    timezone: Type.String({ minLength: 1, maxLength: 100, description: 'IANA name, such as Asia/Shanghai' }),
  },
  { title: 'Schedule', additionalProperties: false },
)

const Parameters = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 16_384 }), Type.Number(), Type.Boolean(), Type.Null()]),
)

/** A request, and when it runs by itself. */
export const SavedExportBody = Type.Object(
  {
    ...ExportRequestBody.properties,
    schedule: Type.Optional(Schedule),
    parameters: Type.Optional(Parameters),
  },
  {
    title: 'SavedExportRequest',
    examples: [
      {
        source_url: 'https://erp.example.com/api/orders?month={{month}}',
        type: 'excel',
        parameters: { month: '2026-01' },
        schedule: { cron: '0 6 1 * *', timezone: 'Europe/Berlin' },
      },
    ],
    additionalProperties: false,
  },
)

export const RunWish = Type.Object(
  { parameters: Type.Optional(Parameters) },
  { title: 'SavedExportRunRequest', additionalProperties: false },
)

export const SavedRun = Type.Object(
  {
    run_id: Type.String(),
    task_id: nullable(Type.String()),
    by: Type.Enum(['schedule', 'request']),
    due_at: nullable(Time),
    parameters: Parameters,
    status: ExportState,
    error: nullable(Failure),
    created_at: Time,
    finished_at: nullable(Time),
  },
  { title: 'SavedRun' },
)

export const SavedExport = Type.Object(
  {
    name: Type.String(),
    project_id: Type.String(),
    request: Type.Unknown({ description: 'without its secrets' }),
    sealed: Type.Array(Type.String(), { description: 'the secrets that it has' }),
    parameters: Parameters,
    schedule: nullable(Schedule),
    next_run_at: nullable(Time),
    last_run: nullable(SavedRun),
    failing: nullable(Type.Object({ code: Type.String(), message: Type.String(), since: Time })),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'SavedExport' },
)
