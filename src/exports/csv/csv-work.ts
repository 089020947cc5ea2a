import { AppError, ERRORS, readSliceSync } from '../../kernel/index.ts'
import {
  type CellType,
  checkOf,
  ESCAPES,
  FACTS,
  LONGEST,
  MISFITS,
  NULLS,
  noFacts,
  plainFits,
  readIsoDate,
  Timezone,
  textFits,
  UNCHECKED,
} from '../sheet/index.ts'
import type { Made } from '../threads/index.ts'
import { type DateText, dateText, showsDate } from './date-text.ts'
import type { CsvDialect } from './dialect.ts'
import { FieldWriter } from './field-writer.ts'
import { type EncodedText, encodeText } from './text-encoder.ts'

/** What a CSV file makes of the values of a column. Plain data: it travels to threads. */
export type CsvColumn = { type: CellType } & ({ kind: 'value' | 'number' } | { kind: 'date'; format: string })

export interface CsvRecipe {
  dialect: CsvDialect
  timezone: string
  columns: CsvColumn[]
}

export interface CsvSlice {
  recipe: CsvRecipe
  path: string
  offset: number
  bytes: number
  /** Labels of row headers. */
  labels: string[]
}

export interface RenderedSlice extends EncodedText {
  /** See `column-facts.ts`. */
  facts: Float64Array
}

/** Typed records of a slice as those of a file. */
export function renderSlice(task: CsvSlice): Made<RenderedSlice> {
  const { recipe, labels } = task
  const renderer = new RecordRenderer(recipe)
  const text = renderer.render(readSlice(task), labels)
  const encoded = encodeText(text, recipe.dialect.encoding)
  const transfer = [ownMemory(encoded)]
  return { result: { ...encoded, facts: renderer.facts }, transfer }
}

const DEFAULT_FORMAT = 'yyyy-mm-dd hh:mm:ss'
const NUMERIC = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

export class RecordRenderer {
  readonly #fields: FieldWriter
  readonly #columns: CsvColumn[]
  readonly #dates: (DateText | undefined)[]
  /** By column: what its values are checked for. Dates are checked as they are written. */
  readonly #checks: number[]
  readonly #zone: Timezone
  /** By column. */
  readonly facts: Float64Array

  constructor({ dialect, timezone, columns }: CsvRecipe) {
    this.#fields = new FieldWriter(dialect)
    this.#columns = columns
    this.#zone = new Timezone(timezone)
    this.facts = noFacts(columns.length)
    this.#checks = columns.map(({ kind, type }) => (kind === 'date' ? UNCHECKED : checkOf(type)))
    this.#dates = columns.map((column) =>
      column.kind === 'date'
        ? dateText(showsDate(column.format) ? column.format : DEFAULT_FORMAT)
        : undefined,
    )
  }

  render(records: string, labels: readonly string[]): string {
    const lead = labels.map((label) => this.#fields.text(label))
    const out: string[] = []
    let fields = [...lead]
    for (let at = 0; at < records.length; ) {
      const column = fields.length - lead.length
      const isText = records[at] === '"'
      const end = isText ? textEnd(records, at + 1) : plainEnd(records, at)
      const value = isText ? records.slice(at + 1, end - 1).replaceAll('""', '"') : records.slice(at, end)
      if (column < this.#columns.length)
        fields.push(isText ? this.#text(value, column) : this.#plain(value, column))
      if (records[end] === '\n') {
        // Rows from before a column was first seen are shorter.
        while (fields.length < lead.length + this.#columns.length) {
          this.#count(fields.length - lead.length, NULLS)
          fields.push(this.#fields.nothing)
        }
        out.push(this.#fields.record(fields))
        fields = [...lead]
      } else if (records[end] !== ',') throw broken()
      at = end + 1
    }
    if (fields.length > lead.length) throw broken()
    return out.join('')
  }

  #text(value: string, column: number): string {
    if (value === '') this.#count(column, NULLS)
    const longest = column * FACTS + LONGEST
    this.facts[longest] = Math.max(this.facts[longest]!, value.length)
    const date = value === '' ? undefined : this.#date(value, column)
    if (date !== undefined) return this.#fields.text(date)
    const check = this.#checks[column]!
    const isNumber = this.#columns[column]!.kind === 'number' && NUMERIC.test(value)
    if (check !== UNCHECKED && !isNumber) {
      const bytes = Buffer.from(value)
      if (!textFits(check, bytes, 0, bytes.length)) this.#count(column, MISFITS)
    }
    const { escaped } = this.#fields
    const field = this.#fields.text(isNumber ? this.#fields.decimal(value) : value)
    if (this.#fields.escaped > escaped) this.#count(column, ESCAPES)
    return field
  }

  /** A number, a boolean, null or nothing. */
  #plain(value: string, column: number): string {
    if (value === '' || value === 'null') {
      this.#count(column, NULLS)
      return this.#fields.nothing
    }
    const date = this.#date(value, column)
    if (date !== undefined) return this.#fields.text(date)
    const check = this.#checks[column]!
    if (check !== UNCHECKED && !plainFits(check, value)) this.#count(column, MISFITS)
    return this.#fields.plain(value)
  }

  /** What a date column shows of a value, if that is a date. */
  #date(value: string, column: number): string | undefined {
    const show = this.#dates[column]
    if (!show) return undefined
    const bytes = Buffer.from(value)
    const wallClock = readIsoDate(bytes, 0, bytes.length, this.#zone)
    if (!Number.isNaN(wallClock)) return show(wallClock)
    this.#count(column, MISFITS)
    return undefined
  }

  #count(column: number, fact: number): void {
    this.facts[column * FACTS + fact]! += 1
  }
}

/** Skips the text that begins at `at`, with its closing quote. */
function textEnd(records: string, at: number): number {
  for (let p = at; ; p += 2) {
    p = records.indexOf('"', p)
    if (p < 0) throw broken()
    if (records[p + 1] !== '"') return p + 1
  }
}

function plainEnd(records: string, at: number): number {
  let p = at
  for (; p < records.length; p++) {
    const code = records.charCodeAt(p)
    if (code === 0x2c || code === 0x0a) return p
  }
  throw broken()
}

function readSlice(slice: CsvSlice): string {
  const buffer = Buffer.allocUnsafe(slice.bytes)
  if (!readSliceSync(slice, buffer)) throw broken()
  return buffer.toString()
}

/** Small buffers may lie in memory that Node shares out among many; they get their own before they travel. */
function ownMemory(encoded: EncodedText): ArrayBuffer {
  const { bytes } = encoded
  if (bytes.byteLength !== bytes.buffer.byteLength) encoded.bytes = new Uint8Array(bytes)
  return encoded.bytes.buffer as ArrayBuffer
}

function broken(): AppError {
  return new AppError(ERRORS.SPOOL_DAMAGED, 'a segment of the spool is cut off or garbled')
}
