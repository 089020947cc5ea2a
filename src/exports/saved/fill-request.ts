import type { ExportBody } from '../request/index.ts'
import {
  checkParameters,
  invalid,
  OF_THE_PAGE,
  type Parameters,
  type ParameterValue,
  PLACEHOLDER,
  valuesAt,
  wordsAt,
} from './parameters.ts'

type Json = Record<string, unknown>

/** The members of a request in which parameters are filled; a request may have more than this file knows of. */
interface Fillable {
  source_url?: string
  source?: unknown
  sheets?: { source_url: string; title?: string; summary?: string }[]
  title?: string
  summary?: string
  file_name?: string
}

/**
 * A request with its parameters filled in, each place in its own way: encoded in addresses, bound in queries, as JSON in
 * bodies, as plain text in titles. A value cannot change what the request is about: not its host, nor its query.
 */
export function fillRequest<B extends Fillable>(body: B, values: Parameters): B {
  const text = (given: string, path: string) => fillText(given, values, path)
  return {
    ...body,
    ...filled(body, 'source_url', (url) => fillUrl(url, values, 'source_url')),
    ...filled(body, 'source', (source) => fillSource(source as Json, values)),
    ...filled(body, 'title', (title) => text(title, 'title')),
    ...filled(body, 'summary', (summary) => fillMarkup(summary, values, 'summary')),
    ...filled(body, 'file_name', (name) => text(name, 'file_name')),
    ...filled(body, 'sheets', (sheets) =>
      sheets.map((sheet, index) => {
        const path = `sheets[${index}]`
        return {
          ...sheet,
          source_url: fillUrl(sheet.source_url, values, `${path}.source_url`),
          ...filled(sheet, 'title', (title) => text(title, `${path}.title`)),
          ...filled(sheet, 'summary', (summary) => fillMarkup(summary, values, `${path}.summary`)),
        }
      }),
    ),
  }
}

/** For a request that brings its parameters along, on the day of that zone. Without any it stays as it is. */
export function fillNow(
  { parameters, ...body }: ExportBody,
  when: { at: number; timezone: string },
): ExportBody {
  if (!parameters) return body
  checkParameters(parameters)
  return fillRequest(body, wordsAt(valuesAt(parameters, {}, when), when))
}

/** Whose days its dates are, if nothing else says so. One that is no zone is refused when the request is read. */
export function zoneOf({ timezone }: ExportBody): string {
  return isZone(timezone) ? timezone : 'UTC'
}

function isZone(timezone: string | undefined): timezone is string {
  try {
    return timezone !== undefined && new Intl.DateTimeFormat('en', { timeZone: timezone }) !== null
  } catch {
    return false
  }
}

function filled<T extends object, K extends keyof T>(
  holder: T,
  key: K,
  fill: (value: NonNullable<T[K]>) => unknown,
): Json {
  const value = holder[key]
  return value === undefined || value === null ? {} : { [key]: fill(value) }
}

function fillSource(source: Json, values: Parameters): Json {
  const { url, body, query, params } = source
  // Bound, not spliced: a value in the query itself could be anything.
  if (typeof query === 'string' && query.search(PLACEHOLDER) >= 0)
    throw invalid(
      'source.query',
      'must not have {{…}}: write $1 (MySQL, SQLite: ?), and {{…}} into source.params',
    )
  return {
    ...source,
    ...(typeof url === 'string' && { url: fillUrl(url, values, 'source.url') }),
    ...(body !== undefined && { body: fillJson(body, values, 'source.body') }),
    ...(params !== undefined && { params: fillJson(params, values, 'source.params') }),
  }
}

const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*(?=[/?#]|$)/i
const DOTS = /^(?:\.|%2e){1,2}$/i

function fillUrl(url: string, values: Parameters, path: string): string {
  if (url.search(PLACEHOLDER) < 0) return url
  const authority = AUTHORITY.exec(url)?.[0]
  if (authority === undefined || authority.search(PLACEHOLDER) >= 0)
    throw invalid(path, 'must name its host itself: parameters are for the path and the query')
  const done = replaced(url, values, path, (value) => encodeURIComponent(asText(value).toWellFormed()))
  // A step upwards would lead to another endpoint.
  const steps = (address: string) =>
    (address.split(/[?#]/)[0] ?? '').split('/').filter((part) => DOTS.test(part)).length
  if (steps(done) > steps(url))
    throw invalid(path, 'has a parameter that makes a step upwards (..) in its path')
  return done
}

function fillText(text: string, values: Parameters, path: string): string {
  return replaced(text, values, path, asText)
}

/** Where tags have a meaning, those of a value have none. */
function fillMarkup(text: string, values: Parameters, path: string): string {
  return replaced(text, values, path, (value) =>
    asText(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  )
}

/** A text that is one placeholder and nothing else becomes its value: a number stays a number. */
function fillJson(value: unknown, values: Parameters, path: string): unknown {
  if (Array.isArray(value)) return value.map((item, index) => fillJson(item, values, `${path}[${index}]`))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, fillJson(item, values, `${path}.${key}`)]),
    )
  if (typeof value !== 'string') return value
  const [whole] = value.matchAll(PLACEHOLDER)
  if (whole?.[0] === value && !OF_THE_PAGE.has(whole[1] as string))
    return valueFor(values, whole[1] as string, path)
  return replaced(value, values, path, asText, path.startsWith('source.body'))
}

function replaced(
  text: string,
  values: Parameters,
  path: string,
  write: (value: ParameterValue) => string,
  hasPages = false,
): string {
  return text.replace(PLACEHOLDER, (whole, name: string) =>
    hasPages && OF_THE_PAGE.has(name) ? whole : write(valueFor(values, name, path)),
  )
}

function valueFor(values: Parameters, name: string, path: string): ParameterValue {
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  if (value === undefined) throw invalid(path, `names {{${name}}}, which is neither a parameter nor a date`)
  return value
}

function asText(value: ParameterValue): string {
  return value === null ? '' : String(value)
}
