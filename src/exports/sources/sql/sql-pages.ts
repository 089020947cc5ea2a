import type { TextPage } from '../pages/index.ts'
import { rowTooLarge } from './sql-error.ts'

/** A column of a query: its type in a template, if the database says one, and how its values become JSON. */
export interface SqlColumn<Value> {
  name: string
  type: string | null
  /** Never called with null. */
  json(value: Value): string
}

/** The first page is small: how wide the rows are shows there, and a preview needs no more. */
const FIRST_ROWS = 200
export const MOST_ROWS = 50_000
export const PAGE_BYTES = 1024 * 1024
/** How long a query may send nothing. By Wharf's own clock: a query can change what the database knows of it. */
export const SILENCE_MS = 300_000
/** As much as a page of any source may have. */
export const MOST_ROW_BYTES = 64 * 1024 * 1024

/** Whether a page that comes after `pages` others has enough. */
export function isFull(pages: number, rows: number, bytes: number): boolean {
  return rows >= (pages === 0 ? FIRST_ROWS : MOST_ROWS) || bytes >= PAGE_BYTES
}

/** Made once per query: the keys are the same in every row. */
function rowWriter<Value>(columns: readonly SqlColumn<Value>[]) {
  const keys = columns.map(({ name }, n) => `${n === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  return (row: readonly (Value | null)[]): string => {
    let text = ''
    for (let n = 0; n < keys.length; n++) {
      const value = row[n]!
      if (sizeOf(value) + text.length > MOST_ROW_BYTES) throw rowTooLarge(MOST_ROW_BYTES)
      text += keys[n]! + (value === null ? 'null' : columns[n]!.json(value))
    }
    return keys.length === 0 ? '{}' : `${text}}`
  }
}

/** Of what can be large. */
function sizeOf(value: unknown): number {
  return typeof value === 'string' ? value.length : value instanceof Uint8Array ? 2 * value.byteLength : 0
}

/** Gathers rows that come one by one into pages. */
export class PageGatherer<Value> {
  readonly #write: (row: readonly (Value | null)[]) => string
  #text = ''
  #rows = 0
  #pages = 0

  constructor(columns: readonly SqlColumn<Value>[]) {
    this.#write = rowWriter(columns)
  }

  /** The page that the row has filled, if it has. */
  add(row: readonly (Value | null)[]): TextPage | undefined {
    this.#text += `${this.#rows === 0 ? '{"data":[' : ','}${this.#write(row)}`
    this.#rows += 1
    return isFull(this.#pages, this.#rows, this.#text.length) ? this.rest() : undefined
  }

  /** What is left when no more rows come. */
  rest(): TextPage | undefined {
    if (this.#rows === 0) return undefined
    const page = { text: `${this.#text}]}`, rows: this.#rows }
    this.#text = ''
    this.#rows = 0
    this.#pages += 1
    return page
  }
}

/** Text as JSON if it is JSON, else as a text. For databases that do not promise that a JSON column holds JSON. */
export function checkedJson(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    return JSON.stringify(text)
  }
}

/** Bytes as PostgreSQL shows them. */
export function hexJson(bytes: Uint8Array): string {
  return `"\\\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}"`
}
