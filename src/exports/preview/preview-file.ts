import { readFile } from 'node:fs/promises'
import { isLosslessNumber, parse, stringify } from 'lossless-json'
import { DEFAULT_DIALECT, readCsv } from '../csv/index.ts'
import type { Produced } from '../pipeline/index.ts'
import type { ExportRequest } from '../request/index.ts'
import type { CellStyle, FixedArea, SheetPlan } from '../sheet/index.ts'
import { readWorkbook, type SeenRow } from '../xlsx/index.ts'

/** A table of a file, as it was read back. */
export interface FileTable {
  /** Everything above the data as it is laid out: cells with place, span, value and style. */
  top: FixedArea
  bottom: FixedArea
  /** The rows between the two, totals included: what each cell holds, and what is shown of it. */
  data: SeenRow[]
  /** Looks of the cells of `data`, by the number that they carry. */
  styles: CellStyle[]
  /** Characters, by column; empty where a file says nothing of it. */
  widths: number[]
}

/** Reads the file of a preview: what it shows is what was written. */
export async function readFileTables(
  { path, sheets }: Produced,
  { type, csv }: ExportRequest,
): Promise<FileTable[]> {
  if (type === 'excel') {
    const seen = await readWorkbook(path)
    return seen.map(({ rows, styles, widths }, index) => {
      const { plan, endRow } = sheets[index]!
      const data = rows.filter(({ row }) => row > plan.top.rows && row < endRow)
      return { top: plan.top, bottom: endOf(plan), data, styles, widths }
    })
  }
  const bytes = await readFile(path)
  const records = type === 'csv' ? readCsv(bytes, csv ?? DEFAULT_DIALECT) : readLines(bytes.toString())
  const [titles = [], ...texts] = records
  const data = texts.map((record, index) => textRow(record, index + 2))
  return [{ top: titleRow(titles), bottom: EMPTY, data, styles: [{}], widths: [] }]
}

const EMPTY: FixedArea = { rows: 0, heights: [], cells: [] }

/** The footer, and a watermark below it. */
function endOf({ bottom, mark = EMPTY }: SheetPlan): FixedArea {
  const moved = mark.cells.map((cell) => ({ ...cell, row: cell.row + bottom.rows }))
  return {
    rows: bottom.rows + mark.rows,
    heights: [...bottom.heights, ...mark.heights],
    cells: [...bottom.cells, ...moved],
  }
}

function titleRow(titles: readonly string[]): FixedArea {
  const cells = titles.map((value, column) => ({
    row: 0,
    column,
    rowSpan: 1,
    columnSpan: 1,
    value,
    style: {},
  }))
  return { rows: 1, heights: [undefined], cells }
}

function textRow(texts: readonly string[], row: number): SeenRow {
  const cells = texts.map((text, column) => {
    return { column, rowSpan: 1, columnSpan: 1, type: 'text' as const, value: text, text, style: 0 }
  })
  return { row, height: null, cells }
}

/** JSON lines as records: the keys in order of first sight, then their values. */
function readLines(text: string): string[][] {
  const rows = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parse(line) as Record<string, unknown>)
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return [keys, ...rows.map((row) => keys.map((key) => textOf(row[key])))]
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  return isLosslessNumber(value) ? value.toString() : (stringify(value) ?? '')
}
