import { plainKey } from '../../kernel/index.ts'
import { templateError } from '../condition/index.ts'

/** How the loose JSON of many senders is looked at. Its keys may carry the mark of `parseKeepingOrder`. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function entriesOf(object: JsonObject): [string, unknown][] {
  return Object.entries(object).map(([key, value]) => [plainKey(key), value])
}

/** An own member only: a key such as `constructor` finds nothing by itself. Null counts as not given. */
export function memberOf(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? (object[key] ?? undefined) : undefined
}

/** A list, also in the shape into which PHP turns one whose keys have gaps: `{"0": …, "2": …}`. Else undefined. */
export function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (!isJsonObject(value)) return undefined
  const items: unknown[] = []
  for (const key of Object.keys(value)) {
    if (!INDEX.test(plainKey(key)) || !isContainer(value[key])) return undefined
    items.push(value[key])
  }
  return items.length > 0 ? items : undefined
}

const INDEX = /^\d{1,9}$/

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Whether a sender meant "nothing": not given, or PHP's empty array. */
export function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}

/** A text; numbers are taken too, because names and titles such as 2024 are often written bare. */
export function textOf(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw templateError(path, `expected a text, found ${nameOf(value)}`)
}

/** What kind of thing a sender wrote, for messages. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  const text = JSON.stringify(value) ?? typeof value
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** `path.key`, or `path["key"]` for keys that would read as something else. */
export function memberPath(path: string, key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`
}
