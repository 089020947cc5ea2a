import {
  CLOSE_BRACE,
  COMMA,
  eachElement,
  eachMember,
  KeysSeen,
  OPEN_BRACE,
  ShapeFault,
  skipValue,
} from '../../json/index.ts'
import {
  checkRefusal,
  contentsOf,
  countOf,
  PAGE_MARGIN,
  PageBody,
  startOfJson,
  wholeOf,
} from '../../pages/index.ts'
import type { HttpPlan } from '../read-http-source.ts'
import type { saysMore } from '../says-more.ts'
import { AnswerPlaces } from './answer-places.ts'
import { nextLink } from './link-header.ts'

/** What an answer holds, before it is decided what to make of it. */
export interface AnswerPage {
  /** Where the list of rows begins and ends in the answer. */
  list: { from: number; to: number }
  /** Rows in it. */
  count: number
  /** What the answer states. */
  total: number | undefined
  /** JSON of the next cursor, or the next address as a JSON string; undefined at the end. */
  cursor: string | undefined
  /** The member that says that there is more. */
  more(says?: typeof saysMore): string | undefined
}

export function readAnswer(
  { bytes, length }: Pick<PageBody, 'bytes' | 'length'>,
  headers: Readonly<Record<string, string>>,
  plan: HttpPlan,
  page: number,
): AnswerPage {
  const start = startOfJson(bytes, length, page)
  wholeOf(bytes, start, length)
  const places = new AnswerPlaces(bytes, start, headers)
  const list = places.list(plan.rows)
  const rowless = { input: bytes, start, end: length, page }
  if (list === undefined) {
    // HAL leaves out `_embedded` where nothing is.
    const isNothing = /^"?0"?$/.test(places.json(plan.total) ?? '')
    checkRefusal({ ...rowless, isList: isNothing })
    if (isNothing)
      return {
        list: { from: start, to: start },
        count: 0,
        total: 0,
        cursor: undefined,
        more: () => undefined,
      }
    throw new ShapeFault(`${noRows(plan.rows)}${contentsOf(rowless)}`)
  }
  let count = 0
  const to = eachElement(bytes, list, (from) => {
    if (bytes[from] !== OPEN_BRACE) throw new ShapeFault(`row ${count + 1} is not an object`)
    count++
    return skipValue(bytes, from)
  })
  if (count === 0) checkRefusal({ ...rowless, isList: true })
  return {
    list: { from: list, to },
    count,
    total: totalOf(places, plan),
    cursor: cursorOf(places, headers, plan),
    more: (says) => places.more(says),
  }
}

function noRows(rows: readonly string[]): string {
  const where = rows.map((place) => (place === '' ? 'the answer itself' : `'${place}'`)).join(' or ')
  return `there is no list of rows at ${where}`
}

function totalOf(places: AnswerPlaces, { total, totalNamed }: HttpPlan): number | undefined {
  const text = places.json(total)
  if (text !== undefined) return countOf(JSON.parse(text))
  if (totalNamed) throw new ShapeFault(`there is no total at '${total[0]}'`)
  return undefined
}

/** An empty text and false are ways to say that there is no more. */
function cursorOf(
  places: AnswerPlaces,
  headers: Readonly<Record<string, string>>,
  { style, cursor }: HttpPlan,
): string | undefined {
  if (style === 'link' && cursor.length === 0) {
    const link = nextLink(headers.link)
    return link === undefined ? undefined : JSON.stringify(link)
  }
  if (style !== 'link' && style !== 'cursor') return undefined
  const text = places.json(cursor)
  return text === '""' || text === 'false' || text === '[]' ? undefined : text
}

/** Keys of the rows, in the order of first sight, with those that are lifted. */
export function keysOf(page: Pick<PageBody, 'bytes'>): string[] {
  const keys = new KeysSeen()
  eachMember(page.bytes, 0, (_, list) =>
    eachElement(page.bytes, list, (row) => keys.readRow(page.bytes, row)),
  )
  return keys.names
}

const HEAD = Buffer.from('{"data":[')
const TAIL = Buffer.from(']}')

/** The first `keep` rows as a page of the seed's protocol, which is what the spool takes. */
export function toPage(
  input: Buffer,
  { list, count }: Pick<AnswerPage, 'list' | 'count'>,
  keep: number,
  lift: HttpPlan['lift'],
): PageBody {
  if (keep === 0) return joinRows([])
  // What is between the rows of a list is commas and blanks.
  if (!lift && keep === count) return joinRows([input.subarray(list.from + 1, list.to - 1)])
  // A row is never longer for what is lifted out of it.
  const out = Buffer.allocUnsafe(list.to - list.from)
  let length = 0
  let row = 0
  eachElement(input, list.from, (from) => {
    const to = skipValue(input, from)
    if (row++ < keep) {
      if (row > 1) out[length++] = COMMA
      length = lift ? writeLifted(input, from, lift, out, length) : length + input.copy(out, length, from, to)
    }
    return to
  })
  return joinRows([out.subarray(0, length)])
}

export function joinRows(rows: readonly Uint8Array[]): PageBody {
  const size = rows.reduce((sum, row) => sum + row.length + 1, HEAD.length + TAIL.length)
  const page = new PageBody()
  page.bytes = Buffer.allocUnsafeSlow(size + PAGE_MARGIN)
  let at = HEAD.copy(page.bytes)
  rows.forEach((row, index) => {
    if (index > 0) page.bytes[at++] = COMMA
    page.bytes.set(row, at)
    at += row.length
  })
  at += TAIL.copy(page.bytes, at)
  page.bytes.fill(0, at)
  page.length = at
  return page
}

/** Writes the row with the members of one of its objects in that one's place. Returns where it ended. */
function writeLifted(
  input: Buffer,
  row: number,
  { member, keep }: NonNullable<HttpPlan['lift']>,
  out: Buffer,
  at: number,
): number {
  const start = at + 1
  let o = start
  const add = (from: number, to: number): number => {
    if (o > start) out[o++] = COMMA
    o += input.copy(out, o, from, to)
    return to
  }
  out[at] = OPEN_BRACE
  eachMember(input, row, (key, value, keyAt) => {
    if (key === member && input[value] === OPEN_BRACE)
      return eachMember(input, value, (_, inner, innerKeyAt) => add(innerKeyAt, skipValue(input, inner)))
    const end = skipValue(input, value)
    return !keep || keep.includes(key) ? add(keyAt, end) : end
  })
  out[o++] = CLOSE_BRACE
  return o
}
