import { Type } from 'typebox'
import { Parameters, Schedule } from '../../../exports/index.ts'
import { ExportRequestBody } from './export-schemas.ts'

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
