import { Type } from 'typebox'
import { COMPRESSIONS, ENCODINGS, EXPORT_TYPES, LINE_ENDS, QUOTES } from '../../../exports/index.ts'
import { CHATS, LANGUAGES } from '../../../notify/index.ts'
import { QUOTAS } from '../../../tenancy/index.ts'
import { pageOf } from '../paging.ts'
import { Failure, nullable, Time, WaitingFor } from '../schemas.ts'
import { byKind } from './by-kind.ts'
import { HttpSource } from './http-source-schema.ts'

/** Their domain checks them; the API document describes them. */
const Template = Type.Unknown({ title: 'Template' })
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

const SqlSource = Type.Object(
  {
    kind: Type.Literal('sql'),
    connection: Type.String({ minLength: 1, maxLength: 200 }),
    query: Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: 'One SELECT; $1, $2 … (MySQL, SQLite: ?) stand for params',
    }),
    params: Type.Optional(
      Type.Array(
        Type.Union([Type.String({ maxLength: 100_000 }), Type.Number(), Type.Boolean(), Type.Null()]),
        { maxItems: 1_000 },
      ),
    ),
  },
  {
    title: 'SqlSource',
    additionalProperties: false,
    description: 'Rows of a database, in place of source_url',
  },
)

const AuditSource = Type.Object(
  {
    kind: Type.Literal('audit'),
    after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    actor: Type.Optional(Type.String({ maxLength: 500 })),
    action: Type.Optional(Type.String({ maxLength: 200 })),
  },
  {
    title: 'AuditSource',
    additionalProperties: false,
    description: 'The audit log, for an admin; the file is the project’s',
  },
)

/** A task is remembered longer than its file can be kept. */
const HOURS = { minimum: 1, maximum: 720 }

const Notify = Type.Object(
  {
    email: Type.Optional(
      Type.Array(Type.String({ minLength: 3, maxLength: 320 }), {
        maxItems: 20,
        description: 'Each gets a mail of its own with a link',
      }),
    ),
    chat: Type.Optional(
      Type.Array(
        Type.Object(
          {
            kind: Type.Enum([...CHATS]),
            url: Type.String({ minLength: 1, maxLength: 16_384, description: 'Its webhook; stored sealed' }),
          },
          { additionalProperties: false },
        ),
        { maxItems: 20 },
      ),
    ),
    language: Type.Optional(Type.Enum([...LANGUAGES], { description: 'Default: messages have both' })),
  },
  {
    title: 'NotifyOptions',
    additionalProperties: false,
    description: 'People who are told when it is ready or has failed',
  },
)

export const ExportRequestBody = Type.Object(
  {
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
    bom: Type.Optional(
      Type.Boolean({ description: 'CSV only: begin with a byte order mark (default true)' }),
    ),
    csv: Type.Optional(Csv),
    template_from: Type.Optional(
      Type.Enum(['source', 'request'], { description: 'Whose template counts where both have one' }),
    ),
    key: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
        minItems: 1,
        maxItems: 16,
        description: 'Columns that identify a row: rows that repeat are told, or fail the export',
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
    notify: Type.Optional(Notify),
    fresh: Type.Optional(Type.Boolean({ description: 'Do not share a running identical job' })),
  },
  {
    title: 'ExportRequest',
    examples: [
      {
        source_url: 'https://erp.example.com/api/orders?month=2026-01',
        type: 'excel',
        file_name: 'orders-2026-01',
        title: 'Orders of January',
        header: { Source: 'ERP', Month: '2026-01' },
        template: [
          { name: 'id', title: 'Order' },
          {
            title: 'Amounts',
            children: [
              { name: 'amount', type: 'money', totals: 'sum' },
              { name: 'rate', type: 'percent' },
            ],
          },
        ],
        callback: 'https://erp.example.com/hooks/wharf',
      },
    ],
    additionalProperties: false,
  },
)

export const RenderBody = Type.Object(
  {
    type: Type.Optional(Type.Enum([...EXPORT_TYPES], { description: 'Default: that of the export' })),
    template: Type.Optional(Template),
    file_name: Type.Optional(Type.String({ maxLength: 1_000 })),
  },
  { title: 'RenderRequest', examples: [{ type: 'csv', file_name: 'orders' }], additionalProperties: false },
)

export const ExportState = Type.Enum(['pending', 'processing', 'succeeded', 'failed', 'cancelled'], {
  title: 'ExportState',
})

export const ExportTask = Type.Object(
  {
    task_id: Type.String(),
    project_id: Type.String(),
    operator_id: nullable(Type.String()),
    file_name: Type.String({ description: 'as it was asked for, without its ending' }),
    type: Type.Enum([...EXPORT_TYPES]),
    templates: Type.Array(Type.Object({ name: Type.String(), version: Type.Integer() }), {
      description: 'the ones that were asked for by name, with the versions that they had',
    }),
    status: ExportState,
    stage: Type.Enum(['queued', 'fetching', 'building', 'uploading', 'notifying', 'done']),
    progress: Type.Object({ fetched: Type.Integer(), total: nullable(Type.Integer()) }),
    file: nullable(
      Type.Object({
        name: Type.String(),
        size: Type.Integer(),
        sha256: Type.String(),
        rows: Type.Integer(),
        parts: Type.Integer(),
      }),
    ),
    download_url: nullable(Type.String()),
    error: nullable(Failure),
    waiting_for: nullable(WaitingFor),
    warnings: Type.Array(Type.String()),
    attempts: Type.Integer(),
    created_at: Time,
    started_at: nullable(Time),
    finished_at: nullable(Time),
    expires_at: nullable(Time),
  },
  {
    title: 'ExportTask',
    examples: [
      {
        task_id: '01JH3V6W6Y8E9Z',
        project_id: 'erp',
        operator_id: null,
        file_name: 'orders-2026-01',
        type: 'excel',
        templates: [],
        status: 'succeeded',
        stage: 'done',
        progress: { fetched: 1200, total: 1200 },
        file: { name: 'orders-2026-01.xlsx', size: 48_213, sha256: 'e3b0c442…', rows: 1200, parts: 1 },
        download_url: 'https://wharf.example.com/api/exports/01JH3V6W6Y8E9Z/file?ticket=…',
        error: null,
        waiting_for: null,
        warnings: [],
        attempts: 1,
        created_at: '2026-02-01T08:00:00.000Z',
        started_at: '2026-02-01T08:00:00.100Z',
        finished_at: '2026-02-01T08:00:04.000Z',
        expires_at: '2026-02-08T08:00:04.000Z',
      },
    ],
  },
)

export const ExportPage = pageOf(ExportTask, 'ExportPage')

export const Deliveries = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        attempt: Type.Integer(),
        at: Time,
        url: Type.String(),
        type: Type.String(),
        status: nullable(Type.Integer()),
        error: nullable(Type.String()),
        delivered: Type.Boolean(),
        channel: Type.String({ description: 'callback, email, or the kind of a chat' }),
      }),
    ),
  },
  { title: 'ExportDeliveries' },
)

export const Downloads = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        at: Time,
        who: Type.String(),
        address: Type.String(),
        bytes: Type.Integer(),
        complete: Type.Boolean(),
      }),
    ),
  },
  { title: 'ExportDownloads' },
)

const Part = {
  name: Type.String(),
  rows: Type.Integer(),
  size: Type.Integer(),
  sha256: Type.String(),
}

const ReportedColumn = Type.Object(
  {
    title: Type.String(),
    name: Type.String({ description: 'key of the rows' }),
    type: Type.String(),
    nulls: Type.Integer({ description: 'empty cells: null, a missing key, an empty text' }),
    misfits: Type.Integer({ description: 'values that did not fit the type' }),
    escaped: Type.Optional(
      Type.Integer({
        description: 'texts of a CSV file that got an apostrophe; reports of earlier versions lack it',
      }),
    ),
    cuts: Type.Integer({ description: 'texts that were too long for a cell' }),
    longest: Type.Integer({ description: 'characters of the longest text' }),
  },
  { title: 'ReportedColumn' },
)

/** More may follow: a reader of a report passes over what it does not know. */
export const Report = Type.Object(
  {
    task_id: Type.String(),
    project_id: Type.String(),
    finished_at: Time,
    file: Type.Object({ ...Part, parts: Type.Integer(), content_type: Type.String() }),
    rows: Type.Object({ asked: Type.Integer(), written: Type.Integer() }),
    tables: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          asked: Type.Integer(),
          written: Type.Integer(),
          columns: Type.Array(ReportedColumn),
          left_out: Type.Array(Type.String(), {
            description: 'keys of the rows that the template leaves out',
          }),
        },
        { additionalProperties: true },
      ),
    ),
    parts: Type.Array(Type.Object(Part)),
    watermark: Type.Optional(nullable(Type.String({ description: 'who asked, when and the task id' }))),
    warnings: Type.Array(Type.String()),
  },
  { title: 'ExportReport' },
)

/** The report with its signature. Members that a signature covers must arrive as they are: nothing is left out. */
export const Manifest = Type.Object(
  {
    format: Type.String(),
    signature: Type.Object({
      algorithm: Type.String(),
      key_id: Type.String(),
      public_key: Type.String(),
      value: Type.String({ description: 'of everything else as canonical JSON (RFC 8785), base64url' }),
    }),
  },
  { title: 'ExportManifest', additionalProperties: true },
)

export const KeySet = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.String(),
        crv: Type.Optional(Type.String()),
        x: Type.Optional(Type.String()),
        kid: Type.Optional(Type.String()),
        use: Type.Optional(Type.String()),
        alg: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: 'ManifestKeys' },
)

export const Place = Type.Object(
  {
    position: Type.Integer({ description: '0 when it runs or is about to; 1 is next' }),
    running: Type.Integer(),
    limit: nullable(Type.Integer()),
    held_by: Type.Enum(['nothing', 'exports_at_once', 'quota'], {
      description:
        'exports_at_once: the limit of the installation; quota: one of the project, named by `quota`',
    }),
    quota: nullable(Type.Enum([...QUOTAS])),
  },
  { title: 'ExportPosition' },
)

export const Preview = Type.Object(
  { tables: Type.Array(Type.Unknown({ title: 'TablePreview' })), warnings: Type.Array(Type.String()) },
  { title: 'ExportPreview' },
)
