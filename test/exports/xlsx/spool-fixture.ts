import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ThreadPool } from '../../../src/exports/index.ts'
import type { CellType, DataColumn, FixedArea, SheetPlan } from '../../../src/exports/sheet/index.ts'
import { type SpoolSegment, writeWorkbook } from '../../../src/exports/xlsx/index.ts'
import type { Book, WrittenBook } from '../../../src/exports/xlsx/write-workbook.ts'

/** A number with its digits as they stand in the source; `undefined` is a key that the row lacks. */
export class Digits {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
export type SpoolValue = string | number | boolean | null | undefined | Digits
export type Row = SpoolValue[]

function spoolField(value: SpoolValue): string {
  if (value === undefined) return ''
  if (value instanceof Digits) return value.text
  return typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : String(value)
}

export const EMPTY: FixedArea = { rows: 0, heights: [], cells: [] }

export function column(
  field: number | null,
  type: CellType = 'auto',
  more: Partial<DataColumn> = {},
): DataColumn {
  return { field, type, style: {}, conditions: [], ...more }
}

export function plan(columns: DataColumn[], more: Partial<SheetPlan> = {}): SheetPlan {
  return { name: 'Sheet1', columns, top: EMPTY, bottom: EMPTY, ...more }
}

/** A folder and a pool; `close` removes both. */
export function setup(options?: { threads?: number }) {
  const directory = mkdtempSync(join(tmpdir(), 'wharf-xlsx-'))
  const pool = new ThreadPool(options)
  let files = 0

  function spool(
    rows: readonly Row[] | Buffer,
    { slice = 1000, group }: { slice?: number; group?: string } = {},
  ) {
    files += 1
    const path = join(directory, `${files}.source.csv`)
    const records = Buffer.isBuffer(rows)
      ? [rows]
      : rows.map((row) => Buffer.from(`${row.map(spoolField).join(',')}\n`))
    writeFileSync(path, Buffer.concat(records))
    const slices: SpoolSegment['slices'] = []
    let offset = 0
    for (let n = 0; n < records.length; n += slice) {
      const part = records.slice(n, n + slice)
      const bytes = part.reduce((sum, record) => sum + record.length, 0)
      slices.push({ offset, bytes, rows: part.length })
      offset += bytes
    }
    const segment: SpoolSegment = { path, slices }
    return group === undefined ? segment : { ...segment, group }
  }

  /** Its warnings are in English. */
  async function write(
    book: Partial<Book> & Pick<Book, 'sheets'>,
  ): Promise<Omit<WrittenBook, 'warnings'> & { warnings: string[] }> {
    files += 1
    const written = await writeWorkbook(
      { pool },
      {
        directory,
        baseName: `book${files}`,
        maxRows: 800_000,
        maxBytes: 10 << 20,
        timezone: 'UTC',
        signal: new AbortController().signal,
        ...book,
      },
    )
    return { ...written, warnings: written.warnings.map(({ message }) => message) }
  }

  async function close(): Promise<void> {
    await pool.close()
    rmSync(directory, { recursive: true, force: true })
  }

  return { directory, pool, spool, write, close }
}
