import { type Static, Type } from 'typebox'
import { ENCODINGS, LINE_ENDS, QUOTES } from '../csv/index.ts'
import { COMPRESSIONS } from '../records/index.ts'
import { AuditSource, byKind, checkShape, HttpSource, SqlSource } from '../sources/index.ts'
import { EXPORT_TYPES } from './export-type.ts'

/** Checked by `template/`; described in the API document. */
export const Template = Type.Unknown({ title: 'Template' })
const Header = Type.Unknown({ title: 'Header' })
const Footer = Type.Unknown({ title: 'Footer' })

const Sheet = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    source_url: Type.String({ minLength: 1, maxLength: 16_384 }),
    title: Type.Optional(Type.String({ maxLength: 1_000 })),
    summary: Type.Optional(Type.String({ maxLength: 32_767 })),
    template: Type.Optional(Template),
  },
  { title: 'ExportSheet', additionalProperties: false },
)

/** The list of sheets as somebody has written it into a file. */
export function parseSheets(value: unknown): NonNullable<ExportBody['sheets']> {
  return checkShape(Type.Array(Sheet), value, 'sheets')
}

const Csv = Type.Object(
  {
    delimiter: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1, description: 'One sign (default ,)' }),
    ),
    encoding: Type.Optional(Type.Enum([...ENCODINGS])),
    bom: Type.Optional(Type.Boolean({ description: 'Default true for utf-8 and utf-16le' })),
    line_end: Type.Optional(Type.Enum(Object.keys(LINE_ENDS) as (keyof typeof LINE_ENDS)[])),
    decimal: Type.Optional(Type.Enum(['.', ','])),
    quote: Type.Optional(Type.Enum([...QUOTES])),
    formulas: Type.Optional(
      Type.Enum(['escape', 'keep'], {
        description: 'Whether texts that look like formulas get an apostrophe (default escape)',
      }),
    ),
  },
  { title: 'CsvOptions', additionalProperties: false },
)

/** What `{{name}}` in a request stands for. */
export type Parameters = Static<typeof Parameters>
export const Parameters = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 16_384 }), Type.Number(), Type.Boolean(), Type.Null()]),
)

/** An earlier request of the project, whose secrets this one may name. */
const SealedFrom = Type.Union(
  [
    Type.Object({ task_id: Type.String({ maxLength: 200 }) }, { additionalProperties: false }),
    Type.Object({ saved_export: Type.String({ maxLength: 200 }) }, { additionalProperties: false }),
  ],
  {
    title: 'SealedFrom',
    description:
      'The request whose secrets are meant by sealed:NAME in place of a header, password or address of a chat',
  },
)

/** A task is remembered longer than its file can be kept. */
const HOURS = { minimum: 1, maximum: 720 }

/** A request as it came over the wire, its outer shape already checked. */
export type ExportBody = Static<typeof ExportFields>
export const ExportFields = Type.Object({
  project_id: Type.Optional(Type.String()),
  source_url: Type.Optional(
    Type.String({ minLength: 1, maxLength: 16_384, description: 'Paged with page and page_size' }),
  ),
  source: Type.Optional(byKind([SqlSource, HttpSource, AuditSource])),
  file_name: Type.Optional(Type.String({ maxLength: 1_000 })),
  title: Type.Optional(Type.String({ maxLength: 1_000 })),
  summary: Type.Optional(
    Type.String({ maxLength: 32_767, description: 'HTML subset: b, i, u, br, font color' }),
  ),
  type: Type.Optional(Type.Enum([...EXPORT_TYPES])),
  compress: Type.Optional(Type.Enum([...COMPRESSIONS], { description: 'csv and jsonl only' })),
  operator_id: Type.Optional(Type.String({ maxLength: 200 })),
  template: Type.Optional(Template),
  header: Type.Optional(Header),
  footer: Type.Optional(Footer),
  callback: Type.Optional(Type.String({ maxLength: 16_384 })),
  page_size: Type.Optional(Type.Integer({ minimum: 100, maximum: 1000 })),
  sheets: Type.Optional(Type.Array(Sheet)),
  source_headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  timezone: Type.Optional(Type.String({ maxLength: 100 })),
  theme: Type.Optional(Type.Enum(['business', 'plain'], { description: 'Excel only (default business)' })),
  bom: Type.Optional(Type.Boolean({ description: 'CSV only: begin with a byte order mark (default true)' })),
  csv: Type.Optional(Csv),
  template_from: Type.Optional(
    Type.Enum(['source', 'request'], { description: 'Which template is used if both have one' }),
  ),
  key: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
      minItems: 1,
      maxItems: 16,
      description: 'Columns that identify a row: rows that repeat are reported, or fail the export',
    }),
  ),
  on_duplicates: Type.Optional(
    Type.Enum(['fail', 'warn'], {
      description: 'Default: a page with the rows of an earlier page fails, rows with the same key warn',
    }),
  ),
  watermark: Type.Optional(
    Type.Boolean({ description: 'Mark the file with who asked for it, when and the task id' }),
  ),
  priority: Type.Optional(
    Type.Enum(['interactive', 'scheduled'], {
      description: 'interactive (default) goes first; scheduled waits for at most ten minutes longer',
    }),
  ),
  keep_hours: Type.Optional(
    Type.Integer({ ...HOURS, description: 'How long the file is kept (default WHARF_EXPORT_TTL_HOURS)' }),
  ),
  keep_rows_hours: Type.Optional(
    Type.Integer({
      ...HOURS,
      description: 'Keep the rows too, so that render can make other files of them',
    }),
  ),
  link_hours: Type.Optional(
    Type.Integer({ ...HOURS, description: 'How long download_url is good (default a quarter of an hour)' }),
  ),
  link_uses: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'How often the file may be fetched by link or ticket',
    }),
  ),
  notify: Type.Optional(Type.Object({}, { description: 'checked by the module that notifies' })),
  parameters: Type.Optional(Parameters),
  sealed_from: Type.Optional(SealedFrom),
  fresh: Type.Optional(Type.Boolean({ description: 'Do not share a running identical job' })),
})
