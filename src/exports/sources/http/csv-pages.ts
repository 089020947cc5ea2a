import type { Warning } from '../../warnings/index.ts'
import { onlyUtf8 } from '../ask/index.ts'
import { MAX_KEYS } from '../json/index.ts'
import type { FeedPage, PageBody } from '../pages/index.ts'
import { headOf } from './csv-head.ts'
import { type CsvOptions, CsvReader, csvFault } from './csv-reader.ts'
import { joinRows } from './paging/answer-page.ts'

const PAGE_ROWS = 2_000

export interface CsvPages {
  /** Names of the columns, from the first line. */
  keys: readonly string[]
  pages: AsyncGenerator<FeedPage & { text: PageBody }>
  /** Of all that was read. */
  warnings(): Warning[]
}

/** Pages of a CSV file whose first line names the columns. Values are texts; an empty field is null. */
export async function openCsv(body: AsyncIterable<Uint8Array>, options: CsvOptions): Promise<CsvPages> {
  const chunks = onlyUtf8(body)
  const reader = new CsvReader(await headOf(chunks), options)
  const close = async () => {
    reader.close()
    await chunks.return(undefined)
  }
  try {
    const keys = (await reader.next())?.fields ?? []
    if (keys.length > MAX_KEYS) throw csvFault(`the first line has more than ${MAX_KEYS} fields`)
    const twin = keys.find((key, place) => keys.indexOf(key) < place)
    if (twin !== undefined) throw csvFault(`two columns are named "${twin}"`)
    return { keys, pages: csvPages(reader, keys, close), warnings: () => reader.warnings() }
  } catch (error) {
    await close()
    throw error
  }
}

async function* csvPages(
  reader: CsvReader,
  keys: readonly string[],
  close: () => Promise<void>,
): AsyncGenerator<FeedPage & { text: PageBody }> {
  const names = keys.map((key) => `${JSON.stringify(key)}:`)
  try {
    for (;;) {
      const rows: Buffer[] = []
      while (rows.length < PAGE_ROWS) {
        const found = await reader.next()
        if (!found) break
        rows.push(Buffer.from(rowOf(names, found.fields)))
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
