import { isSafeNumber, parse } from 'lossless-json'
import type { Clock } from '../../kernel/index.ts'
import { PageBody } from './page-body.ts'
import { pageError } from './page-error.ts'
import { PageGetter } from './page-getter.ts'
import type { PageSource } from './page-source.ts'
import { type Probe, readProbe } from './probe.ts'
import { ROW_HEAD } from './row-columns.ts'

export type SampleRow = Record<string, unknown>

const MAX_PAGE_BYTES = 16 * 1024 * 1024
const PAGE_TIMEOUT_MS = 30_000

/** The first rows of a source as values, for people to look at. An export never takes this way. */
export async function samplePage(
  deps: { source: PageSource; clock: Clock },
  { rows, signal }: { rows: number; signal: AbortSignal },
): Promise<{ probe: Probe; rows: SampleRow[]; bytes: number }> {
  const getter = new PageGetter(deps, {
    maxPageBytes: MAX_PAGE_BYTES,
    pageTimeoutMs: PAGE_TIMEOUT_MS,
    maxRetryAfterMs: 0,
  })
  const body = new PageBody()
  try {
    await getter.get(0, rows, body, signal)
    const probe = readProbe(body.bytes, body.length)
    return { probe, rows: rowsOf(body, probe).slice(0, rows), bytes: body.length }
  } catch (error) {
    signal.throwIfAborted()
    throw pageError(error, 0)
  }
}

function rowsOf({ bytes, length }: PageBody, { wrapped }: Probe): SampleRow[] {
  const answer = parseAnswer(bytes.toString('utf8', 0, length).replace(/^\ufeff/, ''))
  return flatten(wrapped ? (answer.data as { data: unknown }).data : answer.data)
}

/** The rows of `{"data":[…]}` as values; a number that JavaScript would round is its text. */
export function parseRows(text: string): SampleRow[] {
  return flatten(parseAnswer(text).data)
}

function parseAnswer(text: string): { data: unknown } {
  return parse(text, undefined, {
    parseNumber: (digits) => (isSafeNumber(digits) ? Number(digits) : digits),
    onDuplicateKey: ({ newValue }) => newValue,
  }) as { data: unknown }
}

function flatten(data: unknown): SampleRow[] {
  if (Array.isArray(data)) return data as SampleRow[]
  const groups = Object.entries(data as Record<string, SampleRow[]>)
  return groups.flatMap(([name, rows]) => rows.map((row) => ({ ...row, [ROW_HEAD]: name })))
}
