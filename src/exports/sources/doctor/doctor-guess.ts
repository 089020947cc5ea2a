import { AppError, counted, ERRORS, messageOf } from '../../../kernel/index.ts'
import { askSource, type HttpAccess, type HttpSource, openHttpRows, readHttpSource } from '../http/index.ts'
import { discard } from '../pages/index.ts'
import type { Diagnosis, Finding } from './doctor.ts'
import { type Guess, guessSource, rowlessReason, type SeenAnswer } from './guess-source.ts'
import { type Row, RowIdentity } from './row-identity.ts'

export interface GuessOptions {
  url: string
  headers: Readonly<Record<string, string>>
  signal: AbortSignal
}

/** So much of an answer is looked at. */
const LOOK_BYTES = 8 * 1024 * 1024
const LOOK_MS = 60_000
const PAGES = 3
const SIZE = 100
/** What an export asks for unless it is told otherwise. */
const EXPORT_SIZE = 500
/** Names of the number of rows per page, where `page` is the number of the page. */
const SIZE_PARAMETERS = ['page_size', 'per_page', 'limit', 'size', 'pageSize']

/**
 * Looks at a source that does not speak Wharf's own protocol: asks for the address as it is, guesses how it pages, and reads the first pages
 * in that way. Nothing if it looks like nothing that is known.
 */
export async function guessAndTry(access: HttpAccess, options: GuessOptions): Promise<Diagnosis | undefined> {
  const answer = await look(access, options).catch(() => undefined)
  options.signal.throwIfAborted()
  if (!answer) return undefined
  const [first, ...others] = guessSource(answer)
  if (first) return diagnosisOf(access, [first, ...others], options)
  const message = rowlessReason(answer)
  return message === undefined ? undefined : { findings: [failure(message)], recommendation: null }
}

async function diagnosisOf(
  access: HttpAccess,
  guesses: [Guess, ...Guess[]],
  options: GuessOptions,
): Promise<Diagnosis> {
  const failures: unknown[] = []
  for (const guess of guesses) {
    const { reason } = guess
    try {
      const findings = await tryOut(access, guess, options)
      const { preset, ...rest } = await withSize(access, guess, options)
      return {
        findings: [{ level: 'ok', check: 'answer', message: reason }, ...findings],
        recommendation: null,
        source: { kind: 'http', ...(preset && { preset }), ...rest },
      }
    } catch (error) {
      options.signal.throwIfAborted()
      failures.push(error)
    }
  }
  const [{ reason, more }] = guesses
  const message =
    more === undefined
      ? `${reason}, but: ${messageOf(failures[0])}`
      : `'${more}' says that there is more, and no usual way of asking gives it (${messageOf(failures[0])}); describe the pages in source.paging`
  return { findings: [failure(message)], recommendation: null }
}

function failure(message: string): Finding {
  return { level: 'fail', check: 'answer', message }
}

/** The source with the name that its number of rows per page goes by, and a number that it does not refuse. */
async function withSize(
  access: HttpAccess,
  guess: Guess,
  { headers, signal }: GuessOptions,
): Promise<HttpSource> {
  const { source, rows: plain = [] } = guess
  const first = async (tried: HttpSource, size: number): Promise<number | undefined> => {
    try {
      const rows = await openHttpRows(access, readHttpSource({ ...tried, headers: { ...headers } }), {
        size,
        retries: 0,
        signal,
      })
      try {
        for await (const page of rows.pages()) return page.rows
        return 0
      } finally {
        await rows.close()
      }
    } catch {
      signal.throwIfAborted()
      return undefined
    }
  }
  const { style, page_param, size_param = '' } = source.paging ?? {}
  let found = source
  if (style === 'none' || source.preset === 'csv' || source.preset === 'ndjson') return source
  if (style === 'page' && page_param === 'page' && plain.length > 1) {
    const names = [size_param, ...SIZE_PARAMETERS.filter((name) => name !== size_param)]
    // The number of rows that came by themselves shows nothing.
    const few = plain.length - 1
    for (const name of names) {
      const named = { ...source, paging: { ...source.paging, size_param: name } }
      if ((await first({ ...named, total: null }, few)) !== few) continue
      found = named
      break
    }
  }
  if ((await first(found, EXPORT_SIZE)) !== undefined) return found
  return { ...found, paging: { ...found.paging, size: SIZE } }
}

async function look(access: HttpAccess, { url, headers, signal }: GuessOptions): Promise<SeenAnswer> {
  const timeouts = { headersMs: LOOK_MS, bodyMs: LOOK_MS, totalMs: LOOK_MS }
  const request = { url, headers: { accept: 'application/json, */*;q=0.5', ...headers } }
  const answer = await askSource({ ...access, credentials: undefined }, request, { signal, timeouts })
  if (answer.status < 200 || answer.status > 299) {
    await discard(answer.body)
    throw new AppError(ERRORS.SOURCE_STATUS, `the source answered with status ${answer.status}`)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= LOOK_BYTES) break
  }
  const text = Buffer.concat(chunks).toString('utf8')
  return { url, headers: Object.fromEntries(answer.headers), text, isCut: size >= LOOK_BYTES }
}

/** Reads the first pages; throws if they are not what the source says. */
async function tryOut(
  access: HttpAccess,
  { source, rows: plain, more }: Guess,
  { headers, signal }: GuessOptions,
): Promise<Finding[]> {
  const plan = readHttpSource({ ...source, headers: { ...headers } })
  const rows = await openHttpRows(access, plan, { size: SIZE, retries: 0, signal })
  try {
    const check = plain?.length ? new PlainCheck(plain) : undefined
    const seen = new Set<string>()
    let count = 0
    let pages = 0
    const isFromZero = source.paging?.style === 'page' && source.paging.first === 0
    for await (const page of rows.pages()) {
      // For page 0 some give nothing, and some everything at once.
      if (!check && isFromZero && pages === 0 && (page.rows === 0 || page.rows > SIZE))
        throw wrong('page 0 is no page')
      const text =
        typeof page.text === 'string' ? page.text : page.text.bytes.toString('utf8', 0, page.text.length)
      if (page.rows > 0 && seen.has(text)) throw wrong('the second page is the first one again')
      check?.page(text)
      seen.add(text)
      count += page.rows
      pages++
      if (pages === PAGES) break
    }
    if (check && count === 0) throw wrong('the first page has no rows')
    if (more !== undefined && pages < PAGES && count <= (plain?.length ?? 0))
      throw wrong('nothing came after the first rows')
    const { total = null } = rows
    const of = total === null ? 'the total is not known' : `of ${total}`
    return [
      {
        level: count === 0 ? 'warn' : 'ok',
        check: 'total',
        message: `${counted(count, 'row')} in ${counted(pages, 'page')}, ${of}`,
      },
      {
        level: 'ok',
        check: 'shape',
        message: `${counted(rows.columns.length, 'key')}: ${rows.columns
          .slice(0, 8)
          .map(({ name }) => name)
          .join(', ')}`,
      },
    ]
  } finally {
    await rows.close()
  }
}

function wrong(message: string): AppError {
  return new AppError(ERRORS.SOURCE_PAGE_REPEATED, message)
}

/**
 * Compares pages with what the address gave by itself. Pages that differ from each other can still be the wrong ones: a source that counts from 0
 * loses its first page if it is asked from 1, and one that counts from 1 may give anything for page 0.
 */
class PlainCheck {
  readonly #plain: readonly Row[]
  readonly #identity: RowIdentity
  #before: readonly Row[] | undefined

  constructor(plain: readonly Row[]) {
    this.#plain = plain
    this.#identity = new RowIdentity(plain)
  }

  /** The next page; throws if it cannot be that. */
  page(text: string): void {
    const { data } = JSON.parse(text) as { data: Row[] }
    const [first] = data
    if (!first) return
    if (!this.#before && !this.#identity.isLike(first, this.#plain[0]!))
      throw wrong('the first page does not begin with the first row of the address')
    if (this.#before && this.#identity.isAmong(first, this.#before))
      throw wrong('the second page begins with a row of the first one')
    this.#before = data
  }
}
