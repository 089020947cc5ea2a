import { dateOfDigits, Timezone } from '../sheet/index.ts'

const ISO =
  /^(\d{4})([-/])(\d\d)\2(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** The basic form of ISO 8601. */
const BASIC = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)?/i

export interface ReadTime {
  /** Microseconds since 1970, of the instant or, without an offset, of the wall clock counted like UTC. */
  micros: bigint
  /** The text has an offset from UTC. */
  zoned: boolean
  /** The text has a time of day. */
  timed: boolean
}

const DIGITS = /^[1-9]\d{7,12}$/
const UTC = new Timezone('UTC')

/**
 * The forms that `readIsoDate` takes: ISO 8601, also with slashes, or digits. Digits beyond microseconds, which the type does not have, are
 * cut off, as in every other format.
 */
export function readTime(padded: string): ReadTime | undefined {
  const text = padded.trim()
  if (DIGITS.test(text)) return ofDigits(text)
  const found = ISO.exec(BASIC.test(text) ? extended(text) : text)
  if (!found) return undefined
  const [, year, , month, day, hour, minute, second = '0', fraction = '', zone] = found
  const numbers = [year, month, day, hour ?? '0', minute ?? '0', second].map(Number)
  const [y, mo, d, h, mi, s] = numbers as [number, number, number, number, number, number]
  if (h > 23 || mi > 59 || s > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(y, mo - 1, d)
  if (date.getUTCMonth() !== mo - 1 || date.getUTCDate() !== d) return undefined
  const millis = date.getTime() + ((h * 60 + mi) * 60 + s) * 1_000 - offsetOf(zone)
  const micros = BigInt(millis) * 1_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0') || '0')
  return { micros, zoned: zone !== undefined, timed: hour !== undefined }
}

function extended(text: string): string {
  return text.replace(BASIC, (_, year, month, day, hour, minute, second: string | undefined) => {
    const seconds = second === undefined ? '' : `:${second}`
    return `${year}-${month}-${day}T${hour}:${minute}${seconds}`
  })
}

function ofDigits(text: string): ReadTime | undefined {
  const millis = dateOfDigits(Number(text), text.length, UTC)
  if (Number.isNaN(millis)) return undefined
  const isDay = text.length === 8
  return { micros: BigInt(millis) * 1_000n, zoned: !isDay, timed: !isDay }
}

function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))
  return minutes * (zone[0] === '-' ? -60_000 : 60_000)
}
