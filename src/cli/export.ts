import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { basename, extname, resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ExportWishes, LocalQuery } from '../app/export.ts'
import { loadConfig } from '../config.ts'
import { AppError, counted, ERRORS, messageOf, utf8 } from '../kernel/index.ts'
import { given } from './options/given.ts'
import { httpSourceOf, PRESET_NAMES } from './options/http-source.ts'
import { addSourceOptions, type SourceOptions, sourceAccess, wholeNumber } from './options/source-options.ts'
import { interruptible } from './terminal/interrupt.ts'
import { fileError, PartFolder } from './terminal/part-folder.ts'
import type { Progress } from './terminal/progress.ts'

type CsvWishes = NonNullable<ExportWishes['csv']>

interface ExportOptions extends SourceOptions {
  output: string
  type?: FileType
  compress?: 'gzip' | 'zstd'
  sql?: string
  connection?: string
  param?: string[]
  preset?: string
  source?: string
  pageSize?: number
  title?: string
  summary?: string
  template?: string
  sheetHeader?: string
  sheetFooter?: string
  sheets?: string
  timezone?: string
  key?: string[]
  onDuplicates?: 'fail' | 'warn'
  theme?: 'business' | 'plain'
  bom: boolean
  mask: Record<string, string>
  maskKey?: string
  watermark?: string | true
  templateFrom?: 'request' | 'source'
  delimiter?: string
  encoding?: string
  lineEnd?: string
  decimal?: string
  quote?: string
  formulas?: string
  maxRows?: number
  maxBytes?: number
}

const EXAMPLES = `
Examples:
  wharf export 'http://127.0.0.1:8080/samples/orders?rows=5000' -o orders.xlsx
  wharf export https://erp.example/api/orders -o orders.csv --header 'Authorization: Bearer …'
  wharf export https://shop.example/api/orders/ --preset drf -o orders.xlsx
  wharf export --source orders.json -o orders.csv
  wharf export --sql 'select * from orders where day = $1' --param 2026-01-31 \\
    --connection postgres://reader@db.example/shop -o orders.parquet
  wharf export --sql 'select * from orders' --connection ./shop.db -o orders.xlsx

Ctrl-C leaves a folder .FILE.wharf-part beside FILE. The same command, run again within five minutes, goes on from
there; later it starts anew, because the source's rows may have moved. A file that is split (see --max-rows,
--max-bytes) is written as a .zip of its parts.

Ends with 0 when the file is there, 1 when it is not, 130 after Ctrl-C.`

export function addExportCommand(program: Command): void {
  const command = program
    .command('export')
    .description('make a file out of a source, with no server')
    .argument(
      '[source-url]',
      'answers page=P&page_size=N with {total, data} (docs/exports.md), or see --preset',
    )
    .requiredOption(
      '-o, --output <file>',
      'the file to write; its ending (.csv, .xlsx, .zip, .jsonl, .parquet; .csv.gz, .jsonl.zst …) decides the type',
      given,
    )
    .addOption(new Option('--type <type>', 'what to write, whatever the ending').choices([...TYPES]))
    .addOption(
      new Option('--compress <how>', 'CSV and JSON lines, whatever the ending').choices(['gzip', 'zstd']),
    )
    .option('--sql <query>', 'rows of a database in place of a source: one SELECT')
    .option(
      '--connection <url>',
      'the database: postgres://… or mysql://user:password@host/name, or an SQLite file',
    )
    .option('--param <value>', 'for $1, $2 … or ? in the query; may be given again', collect)
    .addOption(
      new Option('--preset <name>', 'how the source pages and answers; see docs/sources.md').choices(
        PRESET_NAMES.split(', '),
      ),
    )
    .option(
      '--source <file.json>',
      'the source as an object, as in docs/sources.md; an address replaces its url',
    )
    .option(
      '--page-size <rows>',
      'rows per request, 100 to 1,000 (default: 500); with --preset or --source up to 10,000',
      wholeNumber(1, 10_000),
    )
    .option('--title <text>', 'Excel: a line above the table')
    .option('--summary <html>', 'Excel: a text below the title (b, i, u, br, font color)')
    .option('--template <file.json>', 'columns, row headers and styles; see docs/templates.md')
    .option('--sheet-header <file.json>', 'Excel: labels and values above the table')
    .option('--sheet-footer <file.json>', 'Excel: the same below it')
    .option(
      '--sheets <file.json>',
      'Excel: several tables, [{name, source_url, title?, summary?, template?}], in place of a source',
    )
    .addOption(
      new Option(
        '--template-from <whose>',
        'where the source sends a template too (default: source)',
      ).choices(['request', 'source']),
    )
    .option('--timezone <name>', 'the zone that times are shown in (default: UTC)')
    .option('--key <columns>', 'columns that identify a row, such as id or order,line', (text) =>
      text.split(','),
    )
    .addOption(
      new Option(
        '--on-duplicates <what>',
        'when rows or pages come twice (default: pages fail, rows warn)',
      ).choices(['fail', 'warn']),
    )
    .addOption(new Option('--theme <name>', 'Excel: how it looks').choices(['business', 'plain']))
    .option('--mask <column=mask>', 'hide the values of a column; may be given several times', readMask, {})
    .option('--mask-key <secret>', 'key of the mask hash: equal values have equal hashes under the same key')
    .option('--watermark [name]', 'mark the file with who made it (default: you), when and an id')
    .option('--no-bom', 'CSV: leave out the byte order mark by which Excel knows UTF-8')
    .option('--delimiter <sign>', 'CSV: between fields, or "tab" (default: ,)')
    .addOption(
      new Option('--encoding <name>', 'CSV (default: utf-8)').choices([
        'utf-8',
        'gb18030',
        'utf-16le',
        'windows-1252',
      ]),
    )
    .addOption(new Option('--line-end <which>', 'CSV (default: crlf)').choices(['crlf', 'lf']))
    .addOption(new Option('--decimal <sign>', 'CSV: in numbers (default: .)').choices(['.', ',']))
    .addOption(
      new Option('--quote <what>', 'CSV: what is quoted (default: text)').choices(['text', 'minimal', 'all']),
    )
    .addOption(
      new Option(
        '--formulas <how>',
        'CSV: an apostrophe before what looks like a formula (default: escape)',
      ).choices(['escape', 'keep']),
    )
    .option('--max-rows <rows>', 'Excel: rows per file, beyond which it is split', wholeNumber(1, 1_048_576))
    .option(
      '--max-bytes <bytes>',
      'Excel: bytes per file, beyond which it is split',
      wholeNumber(65_536, 4_294_967_295),
    )
  addSourceOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((url: string | undefined, options: ExportOptions) => runExport(url, options))
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** The query, if that is what was asked for; a source and a query are not one export. */
function queryOf(
  url: string | undefined,
  { sql, connection, param = [], source, preset, sheets }: ExportOptions,
): LocalQuery | undefined {
  const isHttp = url !== undefined || source !== undefined
  const count = [isHttp, sql !== undefined, sheets !== undefined].filter(Boolean).length
  if (count !== 1 || (!isHttp && preset !== undefined))
    throw new AppError(
      ERRORS.REQUEST_INVALID,
      'give either the address of a source (or --source), or --sql with --connection, or --sheets',
    )
  if ((sql === undefined) !== (connection === undefined))
    throw new AppError(ERRORS.REQUEST_INVALID, '--sql and --connection need one another')
  return sql === undefined ? undefined : { ...targetOf(connection!), query: sql, params: param }
}

/** What has no scheme is the path of a file. */
function targetOf(connection: string): Pick<LocalQuery, 'driver' | 'url'> {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(connection) ?? []
  if (scheme === undefined) return { driver: 'sqlite', url: sqliteFile(connection.replace(/^sqlite:/, '')) }
  if (/^postgres(?:ql)?$/.test(scheme)) return { driver: 'postgres', url: connection }
  if (/^(?:mysql|mariadb)$/.test(scheme)) return { driver: 'mysql', url: connection }
  throw new AppError(
    ERRORS.REQUEST_INVALID,
    `--connection: ${scheme}:// is not known; use postgres://, mysql:// or the path of an SQLite file`,
  )
}

function sqliteFile(path: string): string {
  const file = resolve(path)
  if (existsSync(file)) return file
  throw new AppError(
    ERRORS.REQUEST_INVALID,
    `--connection: there is no file ${file}; use postgres://, mysql:// or the path of an SQLite file`,
  )
}

async function runExport(asked: string | undefined, options: ExportOptions): Promise<void> {
  // Only now: `wharf --help` and `wharf serve` have no use for it.
  const { excelLimits, exportToFolder, parseSheets, readTemplate } = await import('../app/export.ts')
  const { openProgress } = await import('./terminal/progress.ts')
  const file = resolve(options.output)
  const { type, compress } = typeOf(options)
  const read = async (path: string | undefined) => path && readTemplate(await jsonText(path), path)
  const template = await read(options.template)
  const header = await read(options.sheetHeader)
  const footer = await read(options.sheetFooter)
  const sheets = options.sheets === undefined ? undefined : parseSheets(await read(options.sheets))
  const sql = queryOf(asked, options)
  const http = await httpSourceOf(asked, options)
  const url = http?.url ?? asked ?? sheets?.[0]?.source_url ?? ''
  const source = sourceAccess(url, options)
  const same = {
    url,
    headers: source.headers,
    template,
    ...(sql && { sql }),
    ...(http && { http }),
    ...(sheets && { sheets }),
  }
  const folder = await PartFolder.open(file, same)
  const progress = openProgress(process.stderr)
  const limits = excelLimits(loadConfig(process.env))
  const { signal, done } = interruptible(() => {
    progress.stop()
    console.error('wharf: stopped; the same command goes on from here')
  })
  try {
    const made = await exportToFolder({
      source,
      sql,
      http,
      wishes: {
        type,
        ...(compress && { compress }),
        template,
        ...(header !== undefined && { header }),
        ...(footer !== undefined && { footer }),
        ...(sheets !== undefined && { sheets }),
        csv: csvWishes(options),
        file_name: basename(file),
        ...(options.key !== undefined && { key: options.key }),
        ...(options.onDuplicates !== undefined && { on_duplicates: options.onDuplicates }),
        ...(options.title !== undefined && { title: options.title }),
        ...(options.summary !== undefined && { summary: options.summary }),
        ...(options.pageSize !== undefined && !http && { page_size: options.pageSize }),
        ...(options.timezone !== undefined && { timezone: options.timezone }),
        ...(options.theme !== undefined && { theme: options.theme }),
        ...(options.watermark !== undefined && { watermark: true }),
        ...(options.templateFrom !== undefined && { template_from: options.templateFrom }),
      },
      by: typeof options.watermark === 'string' ? options.watermark : userName(),
      masks: { demanded: options.mask, key: options.maskKey ?? null },
      directory: folder.path,
      excel: { maxRows: options.maxRows ?? limits.maxRows, maxBytes: options.maxBytes ?? limits.maxBytes },
      signal,
      onProgress: (step) => progress.update(step),
      onResumed: (rows) => progress.say(`going on after ${counted(rows, 'row')} of an earlier run`),
      onWarning: (message) => progress.say(`! ${message}`),
    })
    const target = targetFor(file, extname(made.fileName))
    const { size } = await stat(made.path)
    await folder.finish(made.path, target)
    progress.stop()
    report(progress, { ...made, size, asked: file, target })
  } catch (error) {
    progress.stop()
    await folder.release()
    throw signal.aborted ? signal.reason : fileError(error, file)
  } finally {
    done()
  }
}

function userName(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return hostname() // a user that the system has no name for
  }
}

function readMask(value: string, masks: Record<string, string>): Record<string, string> {
  const at = value.lastIndexOf('=')
  if (at < 1) throw new InvalidArgumentError('It takes column=mask.')
  return { ...masks, [value.slice(0, at)]: value.slice(at + 1) }
}

/** Without a mark where there can be none; `--no-bom` is the only wish that commander gives a value by itself. */
function csvWishes({
  bom,
  delimiter,
  encoding,
  lineEnd,
  decimal,
  quote,
  formulas,
}: ExportOptions): CsvWishes {
  return {
    ...(!bom && { bom }),
    ...(delimiter !== undefined && { delimiter: delimiter === 'tab' ? '\t' : delimiter }),
    ...(encoding !== undefined && { encoding }),
    ...(lineEnd !== undefined && { line_end: lineEnd }),
    ...(decimal !== undefined && { decimal }),
    ...(quote !== undefined && { quote }),
    ...(formulas !== undefined && { formulas }),
  } as CsvWishes
}

const TYPES = ['csv', 'excel', 'jsonl', 'parquet'] as const
type FileType = (typeof TYPES)[number]

const TYPE_BY_ENDING: Record<string, FileType> = {
  '.csv': 'csv',
  '.xlsx': 'excel',
  '.zip': 'excel',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.parquet': 'parquet',
}
const COMPRESSION_BY_ENDING: Record<string, 'gzip' | 'zstd'> = { '.gz': 'gzip', '.zst': 'zstd' }

function typeOf({ output, type, compress }: ExportOptions): { type: FileType; compress?: 'gzip' | 'zstd' } {
  const file = output.toLowerCase()
  const last = extname(file)
  const packed = COMPRESSION_BY_ENDING[last]
  const found = type ?? TYPE_BY_ENDING[packed ? extname(file.slice(0, -last.length)) : last]
  if (found === undefined)
    throw new AppError(
      ERRORS.REQUEST_INVALID,
      `'${output}' does not say what to write; end it in .csv, .xlsx, .zip, .jsonl or .parquet, or add --type`,
    )
  const how = compress ?? packed
  return how ? { type: found, compress: how } : { type: found }
}

/** A workbook and a zip of workbooks must not pass for one another; any other ending is the caller's affair. */
function targetFor(file: string, made: string): string {
  const ending = extname(file)
  if (!/^\.(?:xlsx|zip)$/.test(made) || ending.toLowerCase() === made) return file
  if (/^\.(?:xlsx|zip)$/i.test(ending)) return `${file.slice(0, -ending.length)}${made}`
  return made === '.zip' ? `${file}.zip` : file
}

async function jsonText(file: string): Promise<string> {
  const read = readFile(file).then(utf8)
  return read.catch((cause: unknown) => {
    throw new AppError(ERRORS.TEMPLATE_INVALID, `cannot read ${file}: ${messageOf(cause)}`, { cause })
  })
}

interface Made {
  asked: string
  target: string
  size: number
  rows: number
  parts: number
  warnings: readonly { message: string }[]
}

function report(progress: Progress, { asked, target, size, rows, parts, warnings }: Made): void {
  for (const { message } of warnings) progress.say(`! ${message}`)
  if (target !== asked) {
    const why =
      parts > 1 ? `the workbook was split into ${counted(parts, 'part')}` : 'the workbook is in one piece'
    progress.say(`! ${why}, so it is written as ${basename(target)}`)
  }
  console.log(`${target}: ${counted(rows, 'row')}, ${counted(size, 'byte')}`)
}
