import { AppError, ERRORS } from '../../kernel/index.ts'
import { type ColumnCounts, countsOf, Timezone } from '../sheet/index.ts'
import type { ThreadPool } from '../threads/index.ts'
import { type Warning, warn } from '../warnings/index.ts'
import { columnLetters, MAX_COLUMNS } from './cell-reference.ts'
import { type PreparedSheet, prepareSheet, type SheetInput } from './layout/index.ts'
import { type BookProperties, StyleBook } from './parts/index.ts'
import { SheetWriter, SLICES } from './sheet-writer.ts'
import { Volumes, type WrittenFile } from './volumes.ts'

/** A workbook ends before 4 GiB: not every program that reads one knows zip64. */
const MAX_FILE_BYTES = 0xffff_ffff - (64 << 20)

export interface Book {
  sheets: SheetInput[]
  directory: string
  /** Without an ending. */
  baseName: string
  /** Rows between the fixed areas, in all sheets of one file. */
  maxRows: number
  /** Weight of one file. A single row that weighs more makes a larger file. */
  maxBytes: number
  /** IANA name; instants are shown on this zone's clock. */
  timezone: string
  /** What the files say of themselves. */
  properties?: BookProperties | undefined
  signal: AbortSignal
  /** Rows written so far, in all files. */
  onProgress?(rows: number): void
}

export interface WrittenBook {
  files: WrittenFile[]
  warnings: Warning[]
  /** By sheet and column of its plan. */
  counts: ColumnCounts[][]
  /** By sheet: the first row below its data and totals, in the last file. */
  endRows: number[]
  /** Of the sheets, as Excel takes them. */
  names: string[]
}

/** Turns plans and spool into one .xlsx file, or several where a limit is reached. Without success no file is left. */
export async function writeWorkbook({ pool }: { pool: ThreadPool }, book: Book): Promise<WrittenBook> {
  checkBook(book)
  pool.warmUp(SLICES)
  const styles = new StyleBook()
  const names = safeSheetNames(book.sheets.map(({ plan }) => plan.name))
  const sheets = book.sheets.map((sheet, n) =>
    prepareSheet(sheet, { name: names[n]!, styles, timezone: book.timezone }),
  )
  const limits = {
    maxRows: Math.max(1, book.maxRows),
    maxBytes: Math.min(book.maxBytes, MAX_FILE_BYTES),
    signal: book.signal,
  }
  const { directory, baseName, properties } = book
  const volumes = new Volumes({ directory, baseName, properties, styles: styles.toXml() })
  const warnings: Warning[] = []
  const counts: ColumnCounts[][] = []
  const endRows: number[] = []
  let rows = 0
  try {
    for (const sheet of sheets) {
      const writer = new SheetWriter({ pool, volumes }, sheet, limits)
      await writer.run((more) => {
        rows += more
        book.onProgress?.(rows)
      })
      endRows.push(writer.endRow)
      const columns = countsOf(writer.facts)
      counts.push(columns)
      warnings.push(...warningsOf(sheet, writer, columns))
    }
    book.signal.throwIfAborted()
    return { files: await volumes.publish(), warnings, counts, endRows, names }
  } catch (error) {
    await volumes.discard()
    throw error
  }
}

function checkBook({ sheets, timezone }: Book): void {
  if (sheets.length === 0) throw new AppError(ERRORS.REQUEST_INVALID, 'a workbook needs at least one sheet')
  const wide = sheets.find(({ plan }) => plan.columns.length > MAX_COLUMNS)
  if (wide)
    throw new AppError(
      ERRORS.REQUEST_INVALID,
      `sheet "${wide.plan.name}" has more than ${MAX_COLUMNS} columns`,
    )
  try {
    new Timezone(timezone)
  } catch (cause) {
    throw new AppError(ERRORS.REQUEST_INVALID, `there is no time zone "${timezone}"`, { cause })
  }
}

function warningsOf(
  { name: sheet, plan, totals }: PreparedSheet,
  writer: SheetWriter,
  columns: readonly ColumnCounts[],
): Warning[] {
  const warnings: Warning[] = []
  const { linksLeft, pictured, replaced } = writer
  const cuts = columns.reduce((sum, column) => sum + column.cuts, 0)
  if (cuts > 0) warnings.push(warn('TEXTS_CUT', { sheet, count: cuts, cell: writer.firstCut! }))
  if (linksLeft > 0) warnings.push(warn('LINKS_AS_TEXT', { sheet, count: linksLeft }))
  for (const { column, cells } of totals?.leftOut ?? []) {
    const place = { column: columnLetters(column), total: plan.columns[column]!.total ?? '' }
    warnings.push(warn('TOTAL_LEAVES_OUT', { sheet, count: cells, ...place }))
  }
  if (pictured > 0)
    warnings.push(warn('CONTROL_CHARACTERS', { sheet, count: pictured, cell: writer.firstPictured! }))
  if (replaced > 0)
    warnings.push(warn('NO_CHARACTERS', { sheet, count: replaced, cell: writer.firstReplaced! }))
  return warnings
}

const MAX_LENGTH = 31

/**
 * Names that Excel takes: 31 UTF-16 units at most, none of `[ ] : * ? / \`, no apostrophe at either end, not "History",
 * not empty, and no two alike when case is left aside.
 */
function safeSheetNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name, index) => {
    const base = clean(name) || `Sheet${index + 1}`
    let candidate = cut(base, MAX_LENGTH)
    for (let copy = 2; taken.has(candidate.toLowerCase()); copy += 1) {
      const ending = ` (${copy})`
      candidate = cut(base, MAX_LENGTH - ending.length) + ending
    }
    taken.add(candidate.toLowerCase())
    return candidate
  })
}

function clean(name: string): string {
  const plain = name
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
    .replace(/[\u0000-\u001f\ufffe\uffff]/g, ' ')
    .replace(/[[\]:*?/\\]/g, '_')
    .trim()
    .replace(/^'+|'+$/g, '_')
  return plain.toLowerCase() === 'history' ? `${plain}_` : plain
}

function cut(name: string, length: number): string {
  const short = name.slice(0, length)
  const split = /[\ud800-\udbff]$/.test(short) ? short.slice(0, -1) : short
  return split.trimEnd().replace(/'$/, '_')
}
