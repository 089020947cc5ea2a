import { AppError, counted, ERRORS } from '../../../kernel/index.ts'
import { NO_PRINT, type Print, printOf } from '../duplicates/page-prints.ts'
import {
  CLOSE_BRACKET,
  eachMember,
  OPEN_BRACE,
  OPEN_BRACKET,
  ShapeFault,
  skipSpace,
  skipValue,
  UnknownRowHead,
} from '../json/index.ts'
import type { RowTranscoder } from '../rows/index.ts'
import { checkEndOfPage, checkStatus, countOf, smallValue, startOfPage } from './envelope.ts'
import { checkRefusal } from './refusal.ts'

/** That a request may ask for. */
const LEAST_PAGE_SIZE = 100

export interface PageReaderOptions {
  /** As the probe found it; a page that is wrapped otherwise has the wrong shape. */
  wrapped: boolean
  rowNames?: readonly string[]
}

export interface ExpectedPage {
  page: number
  /** Rows that the page must have, by the probe's total. */
  rows: number
  pageSize: number
  /** The probe's total. */
  total: number
}

/** Reads one page after the other: the envelope member by member, `data` through the transcoder in place. */
export class PageReader {
  readonly #transcoder: RowTranscoder
  readonly #options: PageReaderOptions
  #members = new Map<string, unknown>()
  #hasData = false
  #dataAt = 0
  #dataEnd = 0
  #grouped = false
  /** Which row header a name is, by its first place. */
  readonly #groupOf: ReadonlyMap<string, number>
  /** Of the rows of the page that was read last, where there is more than one. */
  print: Print = NO_PRINT

  constructor(transcoder: RowTranscoder, options: PageReaderOptions) {
    this.#transcoder = transcoder
    this.#options = options
    const { rowNames = [] } = options
    this.#groupOf = new Map(rowNames.map((name, index) => [name, index] as const).reverse())
  }

  /** Returns the page's own total, where it has one. Throws on anything that is not exactly the expected page. */
  read(input: Buffer, end: number, expected: ExpectedPage): number | undefined {
    this.#members.clear()
    this.#hasData = false
    this.#grouped = false
    this.#transcoder.startPage(expected.rows)
    const start = startOfPage(input, end, expected.page)
    const { wrapped } = this.#options
    const outer = new Map<string, unknown>()
    let innerSeen = false
    checkEndOfPage(
      input,
      eachMember(input, start, (key, at) => {
        if (!wrapped) return this.#member(input, end, key, at)
        if (key === 'data' && input[at] === OPEN_BRACE && !innerSeen) {
          innerSeen = true
          return eachMember(input, at, (name, value) => this.#member(input, end, name, value))
        }
        return small(input, key, at, outer)
      }),
      end,
    )
    if (wrapped && outer.has('total')) throw new ShapeFault('it is not wrapped as the first answer was')
    const top = wrapped ? outer : this.#members
    if (!top.has('total')) checkStatus(top.get('status'), top.get('msg'), expected.page)
    if (!this.#hasData) checkRefusal({ input, start, end, page: expected.page, isList: false })
    if (!this.#hasData) throw new ShapeFault('it has no list of rows under data')
    const total = this.#members.has('total') ? countOf(this.#members.get('total')) : undefined
    this.#checkRows(expected, total)
    this.print =
      this.#transcoder.rowsRead > 1 ? printOf(input.subarray(this.#dataAt, this.#dataEnd)) : NO_PRINT
    return total
  }

  #member(input: Buffer, end: number, key: string, at: number): number {
    const stop = this.#readMember(input, end, key, at)
    if (key === 'data') {
      this.#dataAt = at
      this.#dataEnd = stop
    }
    return stop
  }

  #readMember(input: Buffer, end: number, key: string, at: number): number {
    if (key !== 'data') return small(input, key, at, this.#members)
    if (this.#hasData) throw new ShapeFault('it has data twice')
    if (input[at] === OPEN_BRACKET) {
      this.#hasData = true
      return this.#transcoder.rows(input, at, end, this.#options.rowNames ? undefined : 0)
    }
    if (input[at] === OPEN_BRACE && this.#options.rowNames) {
      this.#hasData = true
      this.#grouped = true
      return this.#groups(input, at, end)
    }
    return skipValue(input, at)
  }

  #groups(input: Buffer, at: number, end: number): number {
    const unknown: string[] = []
    const stop = eachMember(input, at, (name, list) => {
      const group = this.#groupOf.get(name)
      if (input[list] !== OPEN_BRACKET) throw new ShapeFault(`the rows of "${name}" are not a list`)
      if (group !== undefined) return this.#transcoder.rows(input, list, end, group)
      const next = skipValue(input, list)
      if (input[skipSpace(input, list + 1)] !== CLOSE_BRACKET) unknown.push(name)
      return next
    })
    if (unknown.length > 0) throw new UnknownRowHead(namesOf(unknown))
    return stop
  }

  #checkRows({ page, rows, pageSize, total }: ExpectedPage, ownTotal: number | undefined): void {
    const read = this.#transcoder.rowsRead
    const details = { page, rows: read, expected: rows }
    if (read < rows) {
      // A source that gives fewer rows than it is asked for shows it on the first page.
      const capped = page === 0 && read > 0 && (ownTotal === undefined || ownTotal === total)
      const smaller = read >= LEAST_PAGE_SIZE ? `ask with page_size=${read}` : 'let it respect page_size'
      const advice = capped ? `; if the source gives no more per page, ${smaller}` : ''
      throw new AppError(
        ERRORS.SOURCE_SHORT_PAGE,
        `page ${page} has ${counted(read, 'row')}, it must have ${rows}${advice}`,
        { details },
      )
    }
    // Rows that were added while we read lengthen the last page. The probe's total rules: they are left out.
    const grown = ownTotal !== undefined && ownTotal > total && read <= pageSize && !this.#grouped
    if (read > rows && !grown)
      throw new AppError(
        ERRORS.SOURCE_LONG_PAGE,
        `page ${page} has ${counted(read, 'row')}, it must have ${rows}`,
        {
          details,
        },
      )
  }
}

/** Names that are shown; of more there is only their number. */
const SHOWN_NAMES = 5

function namesOf(unknown: readonly string[]): string {
  const more = unknown.length - SHOWN_NAMES
  const names = `"${unknown.slice(0, SHOWN_NAMES).join('", "')}"`
  return `no row header is named ${names}${more > 0 ? `, nor ${more} more` : ''}`
}

const WANTED = new Set(['total', 'status', 'msg'])

/** Keeps the few small members that matter after the probe; all others are only checked. */
function small(input: Buffer, key: string, at: number, into: Map<string, unknown>): number {
  if (WANTED.has(key)) into.set(key, smallValue(input, at, key))
  return skipValue(input, at)
}
