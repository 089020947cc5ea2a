import { maskUrl } from '../../tenancy/index.ts'

export type Json = Record<string, unknown>

/** Of `source.auth`; whatever else it has is a secret. */
const AUTH_SHOWN = ['kind', 'username', 'token_url', 'client_id', 'scope']

/** The secrets of a request, by the place where they are. */
export function secretsOf({ source_headers, source, notify }: Json): Map<string, string> {
  const found = new Map<string, string>()
  const take = (path: string, values: unknown) => {
    for (const [name, value] of Object.entries(isObject(values) ? values : {}))
      found.set(`${path}.${name}`, String(value))
  }
  take('source_headers', source_headers)
  if (isObject(source)) {
    take('source.headers', source.headers)
    take('source.auth', Object.fromEntries(authMembers(source).filter(([name]) => isSecret(name))))
  }
  for (const [index, { url }] of chatsOf(notify).entries())
    found.set(`notify.chat[${index}].url`, String(url))
  return found
}

/** Addresses by the place where they are. */
export function placesOf({ source_url, callback, source, sheets }: Json): [string, string][] {
  const { url, auth } = isObject(source) ? source : {}
  const { token_url } = isObject(auth) ? auth : {}
  const pages = (Array.isArray(sheets) ? sheets : []).map((sheet: unknown, index): [string, unknown] => [
    `sheets[${index}].source_url`,
    isObject(sheet) ? sheet.source_url : undefined,
  ])
  const all: [string, unknown][] = [
    ['source_url', source_url],
    ['callback', callback],
    ['source.url', url],
    ['source.auth.token_url', token_url],
    ...pages,
  ]
  return all.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}

/** A request as it is shown: secrets are left out, and named in `sealed`. */
export function hideSecrets(request: Json): { shown: Json; sealed: string[] } {
  const { source_headers: _, source, notify, sheets, ...shown } = request
  for (const name of ['source_url', 'callback'])
    if (typeof shown[name] === 'string') shown[name] = maskUrl(shown[name])
  if (Array.isArray(sheets))
    shown.sheets = sheets.map((sheet: Json) => ({ ...sheet, source_url: maskUrl(String(sheet.source_url)) }))
  if (isObject(source)) shown.source = withoutSecrets(source)
  if (isObject(notify)) {
    const { chat, ...others } = notify
    const chats = chatsOf(notify).map(({ kind }) => ({ kind }))
    shown.notify = Array.isArray(chat) ? { ...others, chat: chats } : others
  }
  const passwords = placesOf(request).filter(([, url]) => maskUrl(url) !== url)
  return { shown, sealed: [...secretsOf(request).keys(), ...passwords.map(([place]) => place)] }
}

function withoutSecrets({ headers: _, auth, url, ...source }: Json): Json {
  const shown: Json = { ...source, ...(typeof url === 'string' && { url: maskUrl(url) }) }
  if (!isObject(auth)) return shown
  return {
    ...shown,
    auth: Object.fromEntries(
      authMembers({ auth })
        .filter(([name]) => !isSecret(name))
        .map(([name, value]) => [name, name === 'token_url' ? maskUrl(String(value)) : value]),
    ),
  }
}

const isSecret = (name: string) => !AUTH_SHOWN.includes(name)

function authMembers({ auth }: Json): [string, unknown][] {
  return isObject(auth) ? Object.entries(auth) : []
}

function chatsOf(notify: unknown): Json[] {
  return isObject(notify) && Array.isArray(notify.chat) ? (notify.chat as Json[]) : []
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
