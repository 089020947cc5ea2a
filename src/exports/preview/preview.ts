import { type Static, Type } from 'typebox'
import { stringifyKeepingOrder } from '../../kernel/index.ts'
import { maskingSecrets, type ProduceDeps, produce, type Sample, sourceError } from '../pipeline/index.ts'
import { reportOf, type TableReport, WarningDetail } from '../report/index.ts'
import type { ExportRequest } from '../request/index.ts'
import { type CellStyle, type FixedArea, type Masking, maskValue } from '../sheet/index.ts'
import { parseRows, ROW_HEAD, valueByName } from '../sources/index.ts'
import { type MaskRules, maskingOf, templateOverruled } from '../template/index.ts'
import { type FileTable, readFileTables } from './preview-file.ts'
import { type SampleOptions, sampleTable } from './preview-sample.ts'

const PreviewColumn = Type.Object(
  { title: Type.String(), name: Type.Union([Type.String(), Type.Null()]), type: Type.String() },
  { title: 'PreviewColumn' },
)
const area = (description: string) => Type.Unsafe<FixedArea>({ type: 'object', description })

export type TablePreview = Static<typeof TablePreview>
export const TablePreview = Type.Object({
  name: Type.String(),
  total: Type.Union([Type.Integer(), Type.Null()], { description: 'Of all rows; null: not known' }),
  columns: Type.Array(PreviewColumn),
  keys: Type.Array(Type.String(), { description: 'All keys of the rows, in the order of first sight' }),
  template: Type.Union([Type.String(), Type.Null()], {
    description: 'JSON of the template that is used, the source’s or the request’s; null: there is none',
  }),
  template_overruled: Type.Boolean({
    description: 'The source sent a template, which is used in place of the one in the request',
  }),
  rows: Type.Array(Type.Array(Type.Unknown()), {
    description: 'Values of the source in the order of `columns`; masked ones as they are shown',
  }),
  report: Type.Unsafe<TableReport>({ type: 'object', description: 'As in the report, of the rows shown' }),
  top: area(
    'The cells above the data: place, span, value and style. `row` counts from 0 within the block, `column` from 0',
  ),
  bottom: area('The cells below the data; `row` counts from 0 within the block, `column` from 0'),
  data: Type.Array(
    Type.Unsafe<FileTable['data'][number]>({
      type: 'object',
      description:
        'A row: what each cell holds, and the text that is shown. `row` counts from 1, as the sheet numbers its rows; `column` of a cell from 0',
    }),
  ),
  styles: Type.Array(Type.Unsafe<CellStyle>({ type: 'object' }), {
    description: 'Styles of the cells of `data`, by their number',
  }),
  widths: Type.Array(Type.Number(), { description: 'Characters, by column; empty: the format has none' }),
})

/** The tables are described by name and not taken apart when an answer is written: their cells are of any type. */
export type Preview = Static<typeof Preview>
export const Preview = Type.Object(
  {
    tables: Type.Array(Type.Unsafe<TablePreview>({ title: 'TablePreview' })),
    warnings: Type.Array(Type.String()),
    warning_details: Type.Array(WarningDetail, { description: 'the same, as codes and values' }),
  },
  { title: 'ExportPreview' },
)

export interface PreviewOptions extends SampleOptions {
  /** For the file of the sample; the caller removes it. */
  directory: string
  /** The masks that a project demands. */
  masks: MaskRules
  /** Called with what was read from the source. */
  onRead?(read: { rows: number; bytes: number }): void
}

/** A sample is always one file. */
const EXCEL = { maxRows: 1_000_000, maxBytes: 0xffff_ffff }

/** Makes the file of the first rows and reads it. An export does the same with all rows. */
export function previewExport(deps: ProduceDeps, options: PreviewOptions): Promise<Preview> {
  return maskingSecrets(deps, options, (masked) => makePreview(masked, options))
}

async function makePreview(deps: ProduceDeps, options: PreviewOptions): Promise<Preview> {
  const { request, masks, directory, signal, onRead } = options
  const samples = new Map<ExportRequest['tables'][number], Sample>()
  for (const table of request.tables) {
    const { bytes, ...sample } = await sampleTable(deps, table, options).catch((error: unknown) => {
      throw sourceError(error, table)
    })
    onRead?.({ rows: sample.page.rows, bytes })
    samples.set(table, sample)
  }
  const shown = readable(request)
  const file = await produce(deps, {
    ...options,
    request: shown,
    samples,
    directory,
    masks,
    limits: {},
    excel: EXCEL,
    signal,
    onProgress: () => undefined,
  })
  const read = await readFileTables(file, shown)
  const { tables } = reportOf(file, { size: 0, sha256: '' })
  const previews = [...samples].map(([table, sample], index): TablePreview => {
    const report = tables[index]!
    const { template, total, probe = {} } = sample
    const columns = template.leaves.map(({ title, name, type }) => ({ title, name, type }))
    const template_overruled = templateOverruled(table, probe, request.templateFrom)
    return {
      ...{ name: report.name, total, columns, keys: keysOf(sample), template: templateText(sample) },
      template_overruled,
      rows: valuesOf(sample, masks),
      ...read[index]!,
      report,
    }
  })
  const warnings = file.warnings.map(({ message }) => message)
  return { tables: previews, warnings, warning_details: file.warnings }
}

/** A Parquet file cannot be shown; its values are those of JSON lines. */
function readable(request: ExportRequest): ExportRequest {
  return { ...request, compress: null, type: request.type === 'parquet' ? 'jsonl' : request.type }
}

function keysOf({ probe, keys = [] }: Sample): string[] {
  return [...(probe?.keys ?? keys)]
}

function templateText({ content: { template } }: Sample): string | null {
  return template === undefined || template === null ? null : stringifyKeepingOrder(template)
}

function valuesOf({ page, template }: Sample, masks: MaskRules): unknown[][] {
  const masking = maskingOf(template, masks)
  return parseRows(page, page.rows).rows.map((row) =>
    template.leaves.map(
      ({ name, rowHead }) =>
        (rowHead ? row[ROW_HEAD] : name === null ? null : masked(valueByName(row, name), name, masking)) ??
        null,
    ),
  )
}

function masked(value: unknown, name: string, masking: Masking | null): unknown {
  if (!masking || !Object.hasOwn(masking.byName, name)) return value
  return maskValue(value, masking.byName[name]!, masking.key)
}
