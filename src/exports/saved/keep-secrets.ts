import { maskUrl } from '../../tenancy/index.ts'
import { isObject, type Json, placesOf, secretsOf } from './hide-secrets.ts'
import { invalid } from './parameters.ts'

/** In place of a secret: the one of that name in the earlier request. */
const SEALED = 'sealed:'

/**
 * A request with secrets of an earlier one, which its sender need not know: `sealed:NAME` stands for the one that is there
 * under that name, and `***` for the password of an address. A secret goes only to where it went before, so that nobody can
 * have it sent to a place of their own: to the same addresses (of one of its forms, filled in or as written), and in the same part of the request, because a token server and
 * a source each have their own.
 */
export function keepSecrets<B extends object>(body: B, before: Json, written: Json = before): B {
  const secrets = secretsOf(before)
  const places = new Set([before, written].flatMap(addressesOf).map(placeOf))
  const stray = addressesOf(body as Json).find((url) => !places.has(placeOf(url)))
  const open = (value: unknown, path: string): unknown => {
    if (typeof value !== 'string' || !value.startsWith(SEALED)) return value
    const name = value.slice(SEALED.length)
    const secret = secrets.get(name)
    if (secret === undefined) throw invalid(path, `names a sealed value that the request has not: '${name}'`)
    if (partOf(name) !== partOf(path))
      throw invalid(path, `cannot have '${name}', which was given for another part of the request`)
    if (!path.startsWith('notify.') && stray !== undefined)
      throw invalid(
        path,
        `is kept for the address that it was given for; enter it anew for ${placeOf(stray)}`,
      )
    return secret
  }
  const opened = (values: unknown, path: string) =>
    isObject(values)
      ? Object.fromEntries(
          Object.entries(values).map(([name, value]) => [name, open(value, `${path}.${name}`)]),
        )
      : values
  const given = unmasked(body as Json, before)
  const { source_headers, source, notify } = given
  return {
    ...given,
    ...(source_headers !== undefined && { source_headers: opened(source_headers, 'source_headers') }),
    ...(isObject(source) && {
      source: {
        ...source,
        ...(source.headers !== undefined && { headers: opened(source.headers, 'source.headers') }),
        ...(source.auth !== undefined && { auth: opened(source.auth, 'source.auth') }),
      },
    }),
    ...(isObject(notify) && {
      notify: {
        ...notify,
        ...(Array.isArray(notify.chat) && {
          chat: notify.chat.map((chat: unknown, index) => opened(chat, `notify.chat[${index}]`)),
        }),
      },
    }),
  } as B
}

/** The request as it is, if all of its secrets are there. A source would get to see `sealed:NAME` or `***` as if it were one. */
export function withoutPlaceholders<B extends object>(body: B): B {
  for (const [path, value] of secretsOf(body as Json))
    if (value.startsWith(SEALED))
      throw invalid(path, `is '${value}', which stands for a secret of an earlier request; ${ENTER}`)
  for (const [path, url] of placesOf(body as Json))
    if (/^\*{3}$/.test(passwordOf(url))) throw invalid(path, `has *** in place of its password; ${ENTER}`)
  return body
}

const ENTER = 'name that request in sealed_from, or enter the secret itself'

/** Or the name, where there is no password. */
function passwordOf(url: string): string {
  const { username = '', password = '' } = URL.parse(url) ?? {}
  return password || username
}

/** Headers all go to the source. A credential is for one field, and so is the address of a chat. */
function partOf(name: string): string {
  return /^source(_headers|\.headers)\./.test(name)
    ? 'headers'
    : name.replace(/^notify\.chat\[\d+\]/, 'notify.chat')
}

/** Where the rows come from, and where tokens do: the places that see headers and credentials. */
function addressesOf({ source_url, source, sheets }: Json): string[] {
  const { url, auth } = isObject(source) ? source : {}
  const { token_url } = isObject(auth) ? auth : {}
  const pages = Array.isArray(sheets)
    ? sheets.map((sheet: unknown) => isObject(sheet) && sheet.source_url)
    : []
  return [source_url, url, token_url, ...pages].filter((one) => typeof one === 'string')
}

/** Other parameters ask the same place for other rows. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

const AUTHORITY = /^\s*[a-z][a-z0-9+.-]*:[/\\]*[^/?#\\]*@[^/?#\\]*/i

/** Addresses with the passwords that they had. */
function unmasked(body: Json, before: Json): Json {
  const known = new Map<string, string>()
  for (const url of [...addressesOf(before), before.callback])
    if (typeof url === 'string') known.set(authorityOf(maskUrl(url)), authorityOf(url))
  const open = (url: unknown) => {
    if (typeof url !== 'string') return url
    const shown = authorityOf(url)
    const opened = shown === '' ? undefined : known.get(shown)
    return opened === undefined ? url : `${opened}${url.slice(shown.length)}`
  }
  const { source_url, callback, source, sheets } = body
  return {
    ...body,
    ...(source_url !== undefined && { source_url: open(source_url) }),
    ...(callback !== undefined && { callback: open(callback) }),
    ...(isObject(source) && {
      source: {
        ...source,
        ...(source.url !== undefined && { url: open(source.url) }),
        ...(isObject(source.auth) &&
          source.auth.token_url !== undefined && {
            auth: { ...source.auth, token_url: open(source.auth.token_url) },
          }),
      },
    }),
    ...(Array.isArray(sheets) && {
      sheets: sheets.map((sheet: Json) => ({ ...sheet, source_url: open(sheet.source_url) })),
    }),
  }
}

function authorityOf(url: string): string {
  return AUTHORITY.exec(url)?.[0] ?? ''
}
