import { type Static, Type } from 'typebox'
import { AppError, ERRORS } from '../kernel/index.ts'
import type { ExportPayload } from './export-job.ts'
import type { KeptTable } from './pipeline/index.ts'
import { EXPORT_TYPES, type ExportRequest, fileNameFor, Template } from './request/index.ts'
import { parseTemplate } from './template/index.ts'

/** How another file of the same rows differs. */
export type RenderWish = Static<typeof RenderWish>
export const RenderWish = Type.Object(
  {
    type: Type.Optional(Type.Enum([...EXPORT_TYPES], { description: 'Default: that of the export' })),
    template: Type.Optional(Template),
    file_name: Type.Optional(Type.String({ maxLength: 1_000 })),
  },
  { title: 'RenderRequest', examples: [{ type: 'csv', file_name: 'orders' }], additionalProperties: false },
)

/** The request for another file. It asks for nothing that was done when the rows were read: keys are compared, rows kept. */
export function renderRequest(
  original: ExportPayload['request'],
  { wish, tables, now }: { wish: RenderWish; tables: KeptTable[]; now: number },
): ExportRequest {
  const {
    key: _,
    onDuplicates: __,
    keepRowsHours: ___,
    watermark: ____,
    templateFrom: _____,
    ...rest
  } = original
  const type = wish.type ?? original.type
  if (tables.length > 1 && type !== 'excel')
    throw new AppError(
      ERRORS.REQUEST_INVALID,
      `type ${type}: the export has several tables, which only 'excel' can hold`,
    )
  parseTemplate(wish.template)
  const name = wish.file_name ?? original.fileName
  return {
    ...rest,
    type,
    compress: type === 'csv' || type === 'jsonl' ? (original.compress ?? null) : null,
    fileName: fileNameFor(name, { extension: 'csv', now }).replace(/\.csv$/, ''),
    tables: tables.map((table) => ({ ...table, ...(wish.template != null && { template: wish.template }) })),
  }
}
