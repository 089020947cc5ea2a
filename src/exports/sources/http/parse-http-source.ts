import { AppError, ERRORS } from '../../../kernel/index.ts'
import { type HttpSource, PAGING_STYLES, PRESETS } from './http-source.ts'

type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const whole: Check = (value) => Number.isInteger(value) && (value as number) >= 0
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const oneOf =
  (choices: readonly string[]): Check =>
  (value) =>
    choices.includes(value as string)

const PAGING: Record<string, Check> = {
  style: oneOf(PAGING_STYLES),
  page_param: text,
  size_param: text,
  first: whole,
  cursor_param: text,
  cursor: text,
  size: (value) => whole(value) && (value as number) >= 1 && (value as number) <= 10_000,
}
const BASIC: Record<string, Check> = { kind: oneOf(['basic']), username: text, password: text }
const OAUTH: Record<string, Check> = {
  kind: oneOf(['oauth2']),
  token_url: text,
  client_id: text,
  client_secret: text,
  scope: text,
}
const SOURCE: Record<string, Check> = {
  kind: oneOf(['http']),
  url: text,
  method: oneOf(['GET', 'POST']),
  body: () => true,
  headers: (value) => isObject(value) && Object.values(value).every(text),
  auth: isObject,
  preset: oneOf(PRESETS),
  rows: text,
  total: (value) => value === null || text(value),
  paging: isObject,
}

/** A source as somebody has written it into a file; what is wrong is said with its place. */
export function parseHttpSource(value: unknown): HttpSource {
  const source = members(value, SOURCE, 'source')
  if (source.url === undefined) throw wrong('source.url', 'is missing')
  if (source.paging !== undefined) members(source.paging, PAGING, 'source.paging')
  const { auth } = source
  if (isObject(auth)) {
    const expected = auth.kind === 'basic' ? BASIC : OAUTH
    members(auth, expected, 'source.auth')
    for (const name of Object.keys(expected))
      if (name !== 'scope' && auth[name] === undefined) throw wrong(`source.auth.${name}`, 'is missing')
  }
  const { kind: _, ...rest } = source
  return rest as unknown as HttpSource
}

function members(value: unknown, known: Record<string, Check>, place: string): Record<string, unknown> {
  if (!isObject(value)) throw wrong(place, 'is not an object')
  for (const [name, member] of Object.entries(value)) {
    const check = Object.hasOwn(known, name) ? known[name] : undefined
    if (!check) throw wrong(`${place}.${name}`, `is unknown; there are ${Object.keys(known).join(', ')}`)
    if (!check(member))
      throw wrong(`${place}.${name}`, 'has a value that it cannot have; see docs/sources.md')
  }
  return value
}

function wrong(place: string, message: string): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, `${place} ${message}`, { retryable: false })
}
