import { AppError, ERRORS, excerpt } from '../../../../kernel/index.ts'
import type { SourceRequest } from '../ask-source.ts'
import { type Filling, fillBody, fillText, marksOf, textOfJson } from '../fill-body.ts'
import type { HttpPlan } from '../read-http-source.ts'

/** What to ask for next, by style: the page's number, the offset, JSON of the cursor, or the address. */
export interface Position {
  page: number
  offset: number
  cursor: string | null
  link: string | null
}

/** Headers that another origin gets to see. */
const HARMLESS = new Set(['accept', 'prefer'])

export function pageRequest(plan: HttpPlan, size: number, position: Position): SourceRequest {
  const { style, method, body, pageParam, sizeParam, cursorParam, query } = plan
  const filling: Filling = {
    page: style === 'offset' ? position.offset : position.page,
    pageSize: size,
    cursor: position.cursor,
  }
  const filled = Object.entries(plan.headers).map(
    ([name, value]) => [name, fillText(value, filling)] as const,
  )
  const headers = { accept: 'application/json', ...Object.fromEntries(filled) }
  if (style === 'link' && position.link !== null) {
    const foreign = isForeign(plan, position.link)
    const shown = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !foreign || HARMLESS.has(name)),
    )
    return request({ ...plan, method }, position.link, shown, filling, foreign)
  }
  const marks = marksOf(body)
  const parameters: Record<string, string> = { ...query }
  // What the body says need not be said twice.
  if (sizeParam !== null && !marks.has('page_size')) parameters[sizeParam] = String(size)
  if ((style === 'page' || style === 'offset') && !marks.has('page'))
    parameters[pageParam] = String(filling.page)
  if (style === 'cursor' && position.cursor !== null && !marks.has('cursor'))
    parameters[cursorParam] = textOfJson(position.cursor)
  return request(plan, withParameters(plan.url, parameters), headers, filling, false)
}

function request(
  { method, body }: Pick<HttpPlan, 'method' | 'body'>,
  url: string,
  headers: Record<string, string>,
  filling: Filling,
  foreign: boolean,
): SourceRequest {
  if (body === undefined) return { url, method, headers, foreign }
  return {
    url,
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: fillBody(body, filling),
    foreign,
  }
}

/** The address that an answer states, in full. Behind a proxy a source may not know that it is asked by https. */
export function nextAddress(plan: HttpPlan, stated: string, answeredBy: string): string {
  const url = URL.parse(stated, answeredBy)
  if (!url || !/^https?:$/.test(url.protocol)) throw refused(stated, 'is no http or https URL')
  const own = new URL(plan.url)
  if (own.protocol === 'https:' && url.protocol === 'http:') {
    if (url.hostname !== own.hostname) throw refused(stated, 'leads from https to http')
    url.port = own.port
    url.protocol = 'https:'
  }
  url.username = ''
  url.password = ''
  if (plan.body !== undefined && isForeign(plan, url.href))
    throw refused(stated, 'leads to another host, which may not see the body')
  return url.href
}

function isForeign({ url }: Pick<HttpPlan, 'url'>, link: string): boolean {
  return new URL(link).origin !== new URL(url).origin
}

function refused(stated: string, why: string): AppError {
  return new AppError(ERRORS.REDIRECT_REFUSED, `the next address "${excerpt(stated, 200)}" ${why}`, {
    retryable: false,
  })
}

/** The address with these parameters in place of its own of the same name. The rest of its query stays as it is written. */
function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const [address = ''] = url.split('#', 1)
  const mark = address.indexOf('?')
  const path = mark < 0 ? address : address.slice(0, mark)
  const own = mark < 0 ? [] : address.slice(mark + 1).split('&')
  const kept = own.filter((part) => part !== '' && !Object.hasOwn(parameters, nameOf(part)))
  const added = Object.entries(parameters).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  )
  const all = [...kept, ...added]
  return all.length === 0 ? path : `${path}?${all.join('&')}`
}

function nameOf(part: string): string {
  const [name = ''] = part.split('=', 1)
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
