import { maskUrl } from '../../tenancy/index.ts'

type Json = Record<string, unknown>

/** Of `source.auth`; whatever else it has is a secret. */
const AUTH_SHOWN = ['kind', 'username', 'token_url', 'client_id', 'scope']

/** A request as it is shown: secrets are left out, and named in `sealed`. */
export function hideSecrets(request: Json): { shown: Json; sealed: string[] } {
  const sealed: string[] = []
  const { source_headers, source, notify, sheets, ...rest } = request
  const shown: Json = { ...rest }
  for (const name of ['source_url', 'callback'])
    if (typeof rest[name] === 'string') shown[name] = maskUrl(rest[name])
  if (Array.isArray(sheets))
    shown.sheets = sheets.map((sheet: Json) => ({ ...sheet, source_url: maskUrl(String(sheet.source_url)) }))
  for (const name of Object.keys((source_headers ?? {}) as Json)) sealed.push(`source_headers.${name}`)
  if (isObject(source)) shown.source = withoutSecrets(source, sealed)
  if (isObject(notify)) {
    const { chat, ...others } = notify
    shown.notify = others
    if (Array.isArray(chat))
      shown.notify = {
        ...others,
        chat: chat.map((one: Json, index) => {
          sealed.push(`notify.chat[${index}].url`)
          return { kind: one.kind }
        }),
      }
  }
  return { shown, sealed }
}

function withoutSecrets({ headers, auth, url, ...source }: Json, sealed: string[]): Json {
  for (const name of Object.keys((headers ?? {}) as Json)) sealed.push(`source.headers.${name}`)
  const shown: Json = { ...source, ...(typeof url === 'string' && { url: maskUrl(url) }) }
  if (!isObject(auth)) return shown
  const members = Object.entries(auth)
  for (const [name] of members) if (!AUTH_SHOWN.includes(name)) sealed.push(`source.auth.${name}`)
  return { ...shown, auth: Object.fromEntries(members.filter(([name]) => AUTH_SHOWN.includes(name))) }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
