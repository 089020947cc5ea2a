import { type HttpSource, hrefOf, leadsOn, nextLink, saysMore } from '../http/index.ts'

/** What was answered when nothing but the address was asked for. */
export interface SeenAnswer {
  url: string
  headers: Readonly<Record<string, string>>
  /** The answer, or as much of it as was read. */
  text: string
  isCut?: boolean
}

export interface Guess {
  /** Why. */
  reason: string
  source: HttpSource
  /** The member of the answer that says that there is more: then the first rows are never all. */
  more?: string
  /** What the address gave by itself, where the source is a guess at how to ask for it page by page. */
  rows?: readonly Members[]
}

type Members = Record<string, unknown>
interface Place {
  place: string
  key: string
  value: unknown
}
type Rule = (members: Members, answer: SeenAnswer) => Guess[]

const NONE: Guess[] = []

/** How an unknown source might page, by the look of one answer, to be tried in this order; nothing if it looks like none. */
export function guessSource(answer: SeenAnswer): Guess[] {
  const { text, url, isCut } = answer
  const value = parsed(text)
  if (Array.isArray(value)) return value.every(isObject) ? ofList(answer, value) : NONE
  if (isCut && /^\s*\[\s*\{/.test(text)) return ofList(answer)
  if (isObject(value)) return firstOf(RULES.map((rule) => rule(value, answer)))
  if (isLines(answer)) return [{ reason: 'each line is a JSON object', source: { preset: 'ndjson', url } }]
  return isCsv(answer) ? [{ reason: 'the answer is CSV', source: { preset: 'csv', url } }] : NONE
}

function firstOf(guesses: Guess[][]): Guess[] {
  return guesses.find(({ length }) => length > 0) ?? NONE
}

/** Without `members`: more than was read. */
function ofList({ headers, url }: SeenAnswer, members?: readonly Members[]): Guess[] {
  if (mayLeadOn(headers.link))
    return [{ reason: 'a list with a header Link', source: { preset: 'links', url } }]
  if (/^\d+-\d+\/(?:\d+|\*)$/.test(headers['content-range'] ?? ''))
    return [{ reason: 'a list with a Content-Range', source: { preset: 'postgrest', url } }]
  return waysOf('a list', { url, rows: '' }, members && countIn([], headers, members.length), members)
}

/** A header that cannot be read is tried too: the error says what is wrong with it. */
function mayLeadOn(link: string | undefined): boolean {
  try {
    return nextLink(link) !== undefined
  } catch {
    return true
  }
}

/**
 * Where no member says whether there is more. Without a total, or with one that is the number of the rows that came, only asking shows
 * whether these are all: some count the rows of the page. One row is too few to know.
 */
function waysOf(
  what: string,
  place: Pick<HttpSource, 'url' | 'rows'>,
  count: Count | undefined,
  rows?: readonly Members[],
): Guess[] {
  const reason = count ? `${what}, total at '${count.place}'` : what
  const isTotal = count !== undefined && count.value > (rows?.length ?? 0)
  if (isTotal && rows) return triedOut(reason, { ...place, total: count.place }, rows)
  const why = count ? 'which is the number of its rows' : 'and nothing says that there is more'
  const all: Guess = {
    reason: `${reason}, ${why}`,
    source: { ...place, total: count?.place ?? null, paging: { style: 'none' } },
  }
  if (rows !== undefined && rows.length < 2) return [all]
  return [...triedOut(what, { ...place, total: null }, rows), all]
}

function triedOut(reason: string, shape: HttpSource, rows?: readonly Members[]): Guess[] {
  return USUAL.map((paging) => ({
    reason: `${reason}; how to ask for more was tried out`,
    source: { ...shape, paging },
    ...(rows && { rows }),
  }))
}

const RULES: Rule[] = [
  ({ data, jsonapi }, { url, headers }) =>
    isRows(data) &&
    (jsonapi !== undefined ||
      /vnd\.api\+json/.test(headers['content-type'] ?? '') ||
      (isObject(data[0]?.attributes) && data[0].type !== undefined))
      ? [{ reason: 'resource objects of JSON:API', source: { preset: 'jsonapi', url } }]
      : NONE,
  (members, { url }) =>
    isRows(members.value) &&
    Object.keys(members).some((key) => /^@(?:odata\.)?(?:context|nextLink)$/.test(key))
      ? [{ reason: 'value, and control information of OData', source: { preset: 'odata', url } }]
      : NONE,
  ({ d }, { url }) =>
    isRows(isObject(d) ? d.results : d)
      ? [{ reason: 'd and results of OData 2', source: { preset: 'odata', url: counting(url) } }]
      : NONE,
  ({ hits }, { url }) =>
    isObject(hits) && Array.isArray(hits.hits)
      ? [
          {
            reason: 'hits of Elasticsearch; the sort must end in a unique field',
            source: { preset: 'elasticsearch', url, body: { sort: [{ _doc: 'asc' }] } },
          },
        ]
      : NONE,
  (members, { url }) =>
    isRows(members.results) && (members.next === null || isAddress(members.next))
      ? [{ reason: 'results and next of Django REST framework', source: { preset: 'drf', url } }]
      : NONE,
  ({ content, totalElements, page }, { url }) =>
    isRows(content) && (totalElements !== undefined || (isObject(page) && page.totalElements !== undefined))
      ? [{ reason: 'content and totalElements of Spring Data', source: { preset: 'spring', url } }]
      : NONE,
  ({ data, next_page_url }, { url }) =>
    isRows(data) && next_page_url !== undefined
      ? [{ reason: 'data and next_page_url of Laravel', source: { preset: 'laravel', url } }]
      : NONE,
  ({ data, meta, current_page, next_cursor, per_page }, { url }) => {
    const more = isObject(meta) ? meta : { current_page, next_cursor, per_page }
    if (!isRows(data) || more.per_page === undefined) return NONE
    if (more.current_page !== undefined)
      return [{ reason: 'data and current_page of Laravel', source: { preset: 'laravel', url } }]
    const cursor = meta ? 'meta.next_cursor' : 'next_cursor'
    return more.next_cursor === undefined
      ? NONE
      : [
          {
            reason: 'data and next_cursor of Laravel',
            source: { preset: 'laravel', url, paging: { style: 'cursor', cursor } },
          },
        ]
  },
  byNames,
]

function counting(url: string): string {
  return /inlinecount=/i.test(url) ? url : `${url}${url.includes('?') ? '&' : '?'}$inlinecount=allpages`
}

const TOTAL =
  /^(?:total|count|items|total_?(?:count|results?|items|elements|records|rows|hits)|(?:record|item|row)_?count)$/i
const TOTAL_HEADERS = ['X-Total-Count', 'X-WP-Total', 'X-Total', 'Total-Count']

interface Count {
  place: string
  value: number
}

/** What may be the number of all rows: rather one that is larger than the number of those that came. */
function countIn(found: readonly Place[], headers: SeenAnswer['headers'], length: number): Count | undefined {
  const members = found.filter(({ key, value }) => TOTAL.test(key) && Number.isInteger(value))
  const named = TOTAL_HEADERS.filter((name) => /^\d{1,15}$/.test(headers[name.toLowerCase()] ?? ''))
  const counts = [
    ...members.map(({ place, value }) => ({ place, value: Number(value) })),
    ...named.map((name) => ({ place: `header:${name}`, value: Number(headers[name.toLowerCase()]) })),
  ]
  return counts.find(({ value }) => value > length) ?? counts.find(({ value }) => value === length)
}

/** Names of lists of rows. */
const ROWS = /^(?:data|rows|items|results?|records|list|values?)$/i

/** By the names that members usually have. */
function byNames(members: Members, { url, headers }: SeenAnswer): Guess[] {
  const found = placesOf(members)
  const list =
    found.find(({ value }) => isRows(value) && value.length > 0) ?? found.find(({ value }) => isRows(value))
  // Rows that are lists have their columns described beside them.
  if (!list || found.some(({ key, value }) => ROWS.test(key) && isTable(value))) return NONE
  const rows = list.place
  const first = list.value as Members[]
  const { length } = first
  const count = countIn(found, headers, length)
  const next = found.find(({ key, value }) => leadsOn(key, value))
  const more = found.find(({ key, value }) => saysMore(key, value)) ?? next
  const what = `rows at '${rows}'`
  if (!more) return waysOf(what, { url, rows }, count, first)
  const total = count && count.value > length ? count.place : null
  const reason = total === null ? what : `${what}, total at '${total}'`
  const shape = { url, rows, total }
  const stated = next ? statedBy(next) : []
  const ways = stated.map((paging) => ({
    reason: `${reason}, and more by '${next?.place}'`,
    source: { ...shape, paging },
    rows: first,
  }))
  // What is stated may be of no use: the same on every page, or without what the first address had.
  const others = length > 1 || ways.length === 0 ? triedOut(reason, shape, first) : []
  return [...ways, ...others].map((guess) => ({ ...guess, more: more.place }))
}

function isTable(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(Array.isArray)
}

/** What keeps the answer from having rows, where there is more to say than that it has none. */
export function rowlessReason({ text }: SeenAnswer): string | undefined {
  const value = parsed(text)
  const found = isObject(value) ? placesOf(value) : [{ place: '', key: '', value }]
  const lists = found.filter(({ value: list }) => Array.isArray(list) && !isRows(list))
  const [longest] = lists.sort((one, other) => lengthOf(other) - lengthOf(one))
  if (longest) {
    const row = (longest.value as unknown[]).findIndex((item) => !isObject(item))
    return `${longest.place === '' ? 'the list' : `the list at '${longest.place}'`} has no rows: row ${row + 1} is not an object`
  }
  const map = found.find(({ value: inner }) => isObject(inner) && isMap(inner))
  return map && `'${map.place}' is an object whose members are objects, not a list of rows`
}

function lengthOf({ value }: Place): number {
  return (value as unknown[]).length
}

function isMap(value: Members): boolean {
  const members = Object.values(value)
  return members.length > 1 && members.every(isObject)
}

/**
 * Ways of asking for a page that many sources have. From 0 is tried before from 1: a source that counts from 1 refuses page 0, or
 * gives the first page for it, and then again, which shows; one that counts from 0 would lose its first page without a word.
 */
const USUAL: NonNullable<HttpSource['paging']>[] = [
  ...fromEither('page', 'page_size'),
  ...fromEither('page', 'per_page'),
  ...fromEither('page', 'limit'),
  { style: 'offset', page_param: 'offset', size_param: 'limit' },
  { style: 'offset', page_param: 'skip', size_param: 'limit' },
  { style: 'offset', page_param: 'start', size_param: 'limit' },
  ...fromEither('_page', '_limit'),
  ...fromEither('_page', '_per_page'),
]

function fromEither(page_param: string, size_param: string): NonNullable<HttpSource['paging']>[] {
  return [0, 1].map((first) => ({ style: 'page', page_param, size_param, first }))
}

/** Parameters that take a cursor, where the one of the same name does not. */
const CURSOR_PARAMETERS = ['cursor', 'after', 'page_token', 'next', 'page', 'offset']

/** How to follow what leads on. A cursor is tried with several parameters: one that is ignored gives the first page again. */
function statedBy({ place, key, value }: Place): NonNullable<HttpSource['paging']>[] {
  if (hrefOf(value) !== undefined) return [{ style: 'link', cursor: `${place}.href` }]
  if (isAddress(value)) return [{ style: 'link', cursor: place }]
  const parameters = new Set([parameterFor(key), ...CURSOR_PARAMETERS])
  return [...parameters].map((cursor_param) => ({ style: 'cursor', cursor: place, cursor_param }))
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^(?:https?:\/\/|\/|\?)/.test(value)
}

function parameterFor(key: string): string {
  if (/^(?:end_?)?cursor$/i.test(key)) return 'cursor'
  return /^next_?.+/i.test(key)
    ? key.replace(/^next_?(.)/i, (_, letter: string) => letter.toLowerCase())
    : key
}

/** Members of the answer and of objects in it, three levels deep, the outer ones first. */
function placesOf(members: Members): Place[] {
  const found: Place[] = []
  let level: { place: string; value: Members }[] = [{ place: '', value: members }]
  for (let depth = 0; depth < 3; depth++) {
    const inner: typeof level = []
    for (const { place, value } of level)
      for (const [key, member] of Object.entries(value)) {
        const at = place === '' ? key : `${place}.${key}`
        found.push({ place: at, key, value: member })
        if (isObject(member)) inner.push({ place: at, value: member })
      }
    level = inner
  }
  return found
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRows(value: unknown): value is Members[] {
  return Array.isArray(value) && value.every(isObject)
}

/** The last line may be cut off. */
function isLines({ text }: SeenAnswer): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const whole = lines.length > 1 ? lines.slice(0, -1) : lines
  return whole.length > 0 && whole.slice(0, 100).every((line) => isObject(parsed(line)))
}

function isCsv({ text, headers }: SeenAnswer): boolean {
  if (/^text\/csv\b/i.test(headers['content-type'] ?? '')) return true
  const [head = '', ...lines] = text.split(/\r?\n/).slice(0, 20)
  const fields = (line: string) => line.split(/[,;\t|]/).length
  return (
    !/[<{[]/.test(head[0] ?? '<') && fields(head) > 1 && lines.some((line) => fields(line) === fields(head))
  )
}
