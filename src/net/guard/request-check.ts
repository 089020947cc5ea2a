import { isIP } from 'node:net'
import { AppError, ERRORS, excerpt, SecretMask } from '../../kernel/index.ts'
import type { Hop } from '../redirect.ts'
import type { AddressGuard } from './address-guard.ts'
import { addressRefused } from './guarded-connect.ts'
import { bareHost } from './host-name.ts'

/** Headers that describe the connection. A caller who sets them could smuggle a request or borrow another host's name. */
const OURS =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect)$/i

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

interface Wanted {
  url: string | URL
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

/** Checks what a caller asks for and lays it out as the first request of a possible chain of redirects. */
export function firstHop(wanted: Wanted, userAgent: string, acceptEncoding: string): Hop {
  const text = String(wanted.url)
  // The parser would drop tabs and line ends without a word.
  const url = CONTROL.test(text) ? null : URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AppError(ERRORS.URL_UNSUPPORTED, `"${shown(wanted.url)}" is no http or https URL`, {
      retryable: false,
    })
  const headers = new Headers({ 'user-agent': userAgent, 'accept-encoding': acceptEncoding })
  for (const [name, value] of Object.entries(wanted.headers ?? {})) setHeader(headers, name, value)
  if ((url.username !== '' || url.password !== '') && !headers.has('authorization'))
    headers.set('authorization', basic(url))
  url.username = ''
  url.password = ''
  const method = (wanted.method ?? 'GET').toUpperCase()
  return { url, method, headers, body: wanted.body, strayed: false }
}

/** An address literal can be refused before anything is connected. */
export function refuseLiteral(guard: Pick<AddressGuard, 'decide'>, url: URL): void {
  const host = bareHost(url.hostname)
  if (isIP(host) === 0) return
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const verdict = guard.decide(host, host, port)
  if (!verdict.allowed) throw addressRefused(host, verdict.reason)
}

function setHeader(headers: Headers, name: string, value: string): void {
  if (OURS.test(name))
    throw new AppError(ERRORS.REQUEST_INVALID, `the header ${name} is set by Wharf itself`, {
      retryable: false,
    })
  try {
    headers.set(name, value)
  } catch (cause) {
    // The value may be a secret, so it is not shown, and neither is the cause that quotes it.
    throw new AppError(ERRORS.REQUEST_INVALID, `the header ${JSON.stringify(name)} is not a valid header`, {
      retryable: false,
      ...(cause instanceof TypeError ? {} : { cause }),
    })
  }
}

function basic(url: URL): string {
  const plain = `${decoded(url.username)}:${decoded(url.password)}`
  return `Basic ${Buffer.from(plain, 'utf8').toString('base64')}`
}

/** What cannot be decoded stays as it is, as browsers have it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function shown(url: string | URL): string {
  return excerpt(new SecretMask().addUrl(url).text(String(url)), 200)
}
