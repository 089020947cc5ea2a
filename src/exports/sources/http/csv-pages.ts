import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import { onlyUtf8 } from '../ask/index.ts'
import { MAX_KEYS } from '../json/index.ts'
import type { FeedPage, PageBody } from '../pages/index.ts'
import { joinRows } from './paging/answer-page.ts'

/** Tried in this order: the one that the first line has most of. */
const DELIMITERS = [',', ';', '\t', '|']
const PAGE_ROWS = 2_000
const MAX_RECORD = 4 * 1024 * 1024
const HEAD_BYTES = 64 * 1024

export interface CsvPages {
  /** Names of the columns, from the first line. */
  keys: readonly string[]
  pages: AsyncGenerator<FeedPage & { text: PageBody }>
}

/** Pages of a CSV file whose first line names the columns. Values are texts; an empty field is null. */
export async function openCsv(body: AsyncIterable<Uint8Array>): Promise<CsvPages> {
  const chunks = onlyUtf8(body)
  const { head, rest } = await headOf(chunks)
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(head.toString('utf8')),
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD,
    info: true,
  })
  const source = Readable.from(rest, { objectMode: false })
  source.on('error', (error) => parser.destroy(error)).pipe(parser)
  const records = parser[Symbol.asyncIterator]() as AsyncIterator<CsvRecord>
  const close = async () => {
    source.destroy()
    parser.destroy()
    await chunks.return(undefined)
  }
  try {
    const first = await next(records)
    const keys = first?.record ?? []
    if (keys.length > MAX_KEYS) throw wrong(`the first line has more than ${MAX_KEYS} fields`)
    const twin = keys.find((key, place) => keys.indexOf(key) < place)
    if (twin !== undefined) throw wrong(`two columns are named "${twin}"`)
    return { keys, pages: csvPages(records, keys, close) }
  } catch (error) {
    await close()
    throw error
  }
}

interface CsvRecord {
  record: string[]
  info: { lines: number }
}

async function* csvPages(
  records: AsyncIterator<CsvRecord>,
  keys: readonly string[],
  close: () => Promise<void>,
): AsyncGenerator<FeedPage & { text: PageBody }> {
  const names = keys.map((key) => `${JSON.stringify(key)}:`)
  try {
    for (;;) {
      const rows: Buffer[] = []
      while (rows.length < PAGE_ROWS) {
        const found = await next(records)
        if (!found) break
        if (found.record.length > keys.length)
          throw wrong(
            `line ${found.info.lines} has ${found.record.length} fields, the first line has ${keys.length}`,
          )
        rows.push(Buffer.from(rowOf(names, found.record)))
      }
      if (rows.length > 0) yield { text: joinRows(rows), rows: rows.length }
      if (rows.length < PAGE_ROWS) return
    }
  } finally {
    await close()
  }
}

function rowOf(names: readonly string[], record: readonly string[]): string {
  let text = ''
  for (let n = 0; n < record.length; n++) {
    const value = record[n]!
    text += `${n === 0 ? '{' : ','}${names[n]}${value === '' ? 'null' : JSON.stringify(value)}`
  }
  return text === '' ? '{}' : `${text}}`
}

async function next(records: AsyncIterator<CsvRecord>): Promise<CsvRecord | undefined> {
  try {
    const { value, done } = await records.next()
    return done ? undefined : value
  } catch (error) {
    throw error instanceof CsvError ? wrong(error.message) : error
  }
}

/** What the stream begins with, at least one line of it, and all of it again. */
async function headOf(
  chunks: AsyncIterator<Uint8Array>,
): Promise<{ head: Buffer; rest: AsyncGenerator<Uint8Array> }> {
  let head = Buffer.alloc(0)
  let ended = false
  while (!ended && head.length < HEAD_BYTES && !head.includes(0x0a)) {
    const { value, done } = await chunks.next()
    if (done) ended = true
    else head = Buffer.concat([head, value])
  }
  async function* rest() {
    if (head.length > 0) yield head
    while (!ended) {
      const { value, done } = await chunks.next()
      if (done) return
      yield value
    }
  }
  return { head, rest: rest() }
}

function delimiterOf(head: string): string {
  const [line = ''] = head.replaceAll(/"(?:[^"]|"")*"/g, '').split(/\r?\n/, 1)
  const count = (delimiter: string) => line.split(delimiter).length
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best))
}

function wrong(message: string): AppError {
  return new AppError(ERRORS.SOURCE_SHAPE, `the CSV cannot be read: ${message}`, { retryable: false })
}
