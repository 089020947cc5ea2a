import type { Clock } from '../../../kernel/index.ts'
import { eachMember, skipValue } from '../json/index.ts'
import {
  cutPage,
  type FeedPage,
  firstRows,
  PageBody,
  type PageSource,
  type Probe,
  pageError,
  readProbe,
  type TextPage,
} from '../pages/index.ts'
import { PageGetter } from './page-getter.ts'

export type SampleRow = Record<string, unknown>

const MAX_PAGE_BYTES = 16 * 1024 * 1024
const PAGE_TIMEOUT_MS = 30_000

/** The first rows of a source, asked for once. */
export async function samplePage(
  deps: { source: PageSource; clock: Clock },
  { rows, signal }: { rows: number; signal: AbortSignal },
): Promise<{ probe: Probe; page: TextPage; bytes: number }> {
  const getter = new PageGetter(deps, {
    maxPageBytes: MAX_PAGE_BYTES,
    pageTimeoutMs: PAGE_TIMEOUT_MS,
    maxRetryAfterMs: 0,
  })
  const body = new PageBody()
  try {
    await getter.get(0, rows, body, signal)
    const probe = readProbe(body.bytes, body.length)
    const { wrapped } = probe
    const page = cutPage(body.bytes, body.length, { wrapped, most: rows })
    return { probe, page, bytes: body.length }
  } catch (error) {
    signal.throwIfAborted()
    throw pageError(error, 0)
  }
}

/** The first rows of a page `{"data":[…]}` as values; a number that JavaScript would round is its text. */
export function parseRows({ text }: FeedPage, most: number): { rows: SampleRow[]; bytes: number } {
  const { bytes, length } = typeof text === 'string' ? PageBody.ofText(text) : text
  let rows: SampleRow[] = []
  eachMember(bytes, 0, (_, data) => {
    rows = firstRows(bytes, data, most)
    return skipValue(bytes, data)
  })
  return { rows, bytes: length }
}
