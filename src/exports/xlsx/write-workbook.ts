import { AppError, counted, ERRORS } from '../../kernel/index.ts'
import { type ColumnCounts, countsOf, Timezone } from '../sheet/index.ts'
import type { ThreadPool } from '../threads/index.ts'
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
  warnings: string[]
  /** By sheet and column of its plan. */
  counts: ColumnCounts[][]
  /** By sheet: the first row below its data and totals, in the last file. */
  endRows: number[]
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
  const warnings: string[] = []
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
      const cuts = columns.reduce((sum, column) => sum + column.cuts, 0)
      if (cuts > 0) warnings.push(cutWarning(sheet.name, cuts, writer.firstCut!))
      if (writer.linksLeft > 0) {
        const left = `${counted(writer.linksLeft, 'address is a plain text', 'addresses are plain texts')}, because a sheet may have 65,530 links`
        warnings.push(`sheet "${sheet.name}": ${left}`)
      }
      for (const { column, cells } of sheet.totals?.leftOut ?? [])
        warnings.push(leftOutWarning(sheet, column, cells))
      if (writer.pictured > 0)
        warnings.push(pictureWarning(sheet.name, writer.pictured, writer.firstPictured!))
      if (writer.replaced > 0)
        warnings.push(replacedWarning(sheet.name, writer.replaced, writer.firstReplaced!))
    }
    book.signal.throwIfAborted()
    return { files: await volumes.publish(), warnings, counts, endRows }
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

function cutWarning(sheet: string, cuts: number, first: string): string {
  const texts = counted(cuts, 'text was', 'texts were')
  return `sheet "${sheet}": ${texts} longer than 32,767 characters and cut there, the first in ${first}`
}

function leftOutWarning({ name, plan }: PreparedSheet, column: number, cells: number): string {
  const what = counted(cells, 'value is no number', 'values are no numbers')
  return `sheet "${name}": in column ${columnLetters(column)} ${what}, and the ${plan.columns[column]!.total} below it leaves them out`
}

function pictureWarning(sheet: string, count: number, first: string): string {
  const texts = counted(count, 'text has', 'texts have')
  return `sheet "${sheet}": ${texts} control characters, which a workbook cannot hold; they are shown as \u2400 to \u241f, the first in ${first}`
}

function replacedWarning(sheet: string, count: number, first: string): string {
  const texts = counted(count, 'text has', 'texts have')
  return `sheet "${sheet}": ${texts} U+FFFE or U+FFFF, which are no characters; they are shown as \ufffd, the first in ${first}`
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
