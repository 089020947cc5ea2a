import { AppError, ERRORS, excerpt } from '../kernel/index.ts'

export interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: string | Uint8Array | undefined
  /** true once a redirect has left the first origin; stays so, even if a later one comes back. */
  readonly strayed: boolean
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** All that another origin gets to see. Keys, cookies, signatures and whatever a project sends to its source stay here. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent'])

/** Where a redirect leads and what is sent there, or undefined if the answer is no redirect. */
export function nextHop(hop: Hop, status: number, location: string | null): Hop | undefined {
  if (!REDIRECTS.has(status) || location === null) return undefined
  const url = URL.parse(asUtf8(location), hop.url.href)
  if (!url || !/^https?:$/.test(url.protocol))
    throw refused(hop.url, `redirects to "${excerpt(location, 200)}", which is no http or https URL`)
  if (hop.url.protocol === 'https:' && url.protocol === 'http:')
    throw refused(
      hop.url,
      `redirects from https to http, where ${url.host} and everyone on the way could read along`,
    )
  if (url.hash === '') url.hash = hop.url.hash
  url.username = ''
  url.password = ''

  const strayed = hop.strayed || url.origin !== hop.url.origin
  const headers = new Headers([...hop.headers].filter(([name]) => !strayed || HARMLESS.has(name)))
  const becomesGet =
    (status === 303 && hop.method !== 'HEAD') || ((status === 301 || status === 302) && hop.method === 'POST')
  if (!becomesGet) return { ...hop, url, headers, strayed }
  for (const name of [...headers.keys()]) if (name.startsWith('content-')) headers.delete(name)
  return { url, method: 'GET', headers, body: undefined, strayed }
}

/** Headers arrive as Latin-1; servers that write an unescaped path mean UTF-8, as browsers know. */
function asUtf8(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? header : text
}

function refused(from: URL, what: string): AppError {
  return new AppError(ERRORS.REDIRECT_REFUSED, `${from.host} ${what}`, { retryable: false })
}
