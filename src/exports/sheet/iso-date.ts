import type { Timezone } from './timezone.ts'

const DAY = 86_400_000
/** Days from 1970-01-01 back to what would be serial 0. */
const EPOCH = 25_569
const LAST_DAY = 2_958_465
const BLANK = 0x20

/**
 * Reads ISO 8601 (`2024-02-29`, `2024-02-29T08:30[:15[.123]]` or a blank for the T, then nothing, `Z` or an offset, also after a blank;
 * `20240229T083015`; also with slashes, `2024/02/29`) or digits (see `dateOfDigits`) from UTF-8 bytes and gives milliseconds on the wall clock of the
 * zone, counted like UTC. A text without an offset is taken as that wall clock already. Outer blanks count for nothing, as in
 * numbers. NaN: not a date.
 */
export function readIsoDate(bytes: Uint8Array, from: number, to: number, zone: Timezone): number {
  let [start, end] = [from, to]
  while (bytes[start] === BLANK && start < end) start += 1
  while (bytes[end - 1] === BLANK && start < end) end -= 1
  const length = end - start
  if (length < 8 || length > 40) return Number.NaN
  const dash = bytes[start + 4]
  if (dash !== 0x2d && dash !== 0x2f) {
    return (bytes[start + 8]! | 0x20) === 0x74
      ? readBasic(bytes, start, end, zone)
      : readDigits(bytes, start, end, zone)
  }
  if (length < 10 || bytes[start + 7] !== dash) return Number.NaN
  const year = two(bytes, start) * 100 + two(bytes, start + 2)
  const month = two(bytes, start + 5)
  const day = two(bytes, start + 8)
  const midnight = midnightOf(year, month, day)
  if (length === 10 || Number.isNaN(midnight)) return midnight
  const separator = bytes[start + 10]
  if (length < 16 || (separator !== 0x54 && separator !== 0x74 && separator !== 0x20)) return Number.NaN
  return readTime(bytes, start + 11, end, { midnight, colon: 1, zone })
}

/** A part that is no number is NaN, and so is the whole. */
function midnightOf(year: number, month: number, day: number): number {
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month))) return Number.NaN
  return daysFromEpoch(year, month, day) * DAY
}

/**
 * What a whole number of N digits means in a date column: 8 are a date (`20240229`), 9 or 10 the seconds and 12 or 13
 * the milliseconds since 1970. NaN: none of these.
 */
export function dateOfDigits(value: number, digits: number, zone: Timezone): number {
  if (value < 10 ** (digits - 1)) return Number.NaN // led by a zero: an id, a telephone number
  if (digits === 8) return midnightOf(Math.floor(value / 10_000), Math.floor(value / 100) % 100, value % 100)
  if (digits === 9 || digits === 10) return zone.wallClock(value * 1_000)
  return digits === 12 || digits === 13 ? zone.wallClock(value) : Number.NaN
}

function readDigits(bytes: Uint8Array, start: number, end: number, zone: Timezone): number {
  if (end - start > 13) return Number.NaN
  let value = 0
  for (let p = start; p < end; p += 1) {
    if (!isDigit(bytes[p]!)) return Number.NaN
    value = value * 10 + bytes[p]! - 48
  }
  return dateOfDigits(value, end - start, zone)
}

/** `20240229T0830[15]`, the basic form of ISO 8601. */
function readBasic(bytes: Uint8Array, start: number, end: number, zone: Timezone): number {
  if (end - start < 13) return Number.NaN
  const year = two(bytes, start) * 100 + two(bytes, start + 2)
  const midnight = midnightOf(year, two(bytes, start + 4), two(bytes, start + 6))
  return readTime(bytes, start + 9, end, { midnight, colon: 0, zone })
}

/** `colon`: characters between hours, minutes and seconds. */
function readTime(
  bytes: Uint8Array,
  start: number,
  end: number,
  { midnight, colon, zone }: { midnight: number; colon: 0 | 1; zone: Timezone },
): number {
  const hour = two(bytes, start)
  const minute = two(bytes, start + 2 + colon)
  if ((colon === 1 && bytes[start + 2] !== 0x3a) || !(hour <= 23 && minute <= 59)) return Number.NaN
  let at = start + 4 + colon
  let millis = 0
  if (at < end && (colon === 1 ? bytes[at] === 0x3a : isDigit(bytes[at]!))) {
    if (at + colon + 2 > end) return Number.NaN
    const second = two(bytes, at + colon)
    if (!(second <= 59)) return Number.NaN
    at += colon + 2
    millis = second * 1000
    if (at < end && (bytes[at] === 0x2e || bytes[at] === 0x2c)) {
      const digits = at + 1
      let scale = 100
      for (at = digits; at < end && isDigit(bytes[at]!); at += 1, scale /= 10) {
        if (scale >= 1) millis += (bytes[at]! - 48) * scale
      }
      if (at === digits) return Number.NaN
    }
  }
  const wall = midnight + (hour * 60 + minute) * 60_000 + millis
  if (at === end) return wall
  if (bytes[at] === BLANK) at += 1
  const offset = readOffset(bytes, at, end)
  return Number.isNaN(offset) ? Number.NaN : zone.wallClock(wall - offset)
}

/** `Z`, `+08`, `+0800`, `+08:00`: milliseconds. */
function readOffset(bytes: Uint8Array, at: number, end: number): number {
  const sign = bytes[at]!
  if (sign === 0x5a || sign === 0x7a) return at + 1 === end ? 0 : Number.NaN
  if (sign !== 0x2b && sign !== 0x2d) return Number.NaN
  const length = end - at
  const colon = length === 6 && bytes[at + 3] === 0x3a ? 1 : 0
  if (length !== 3 && length !== 5 + colon) return Number.NaN
  const hours = two(bytes, at + 1)
  const minutes = length === 3 ? 0 : two(bytes, at + 3 + colon)
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN
  return (sign === 0x2d ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/**
 * Excel's serial in milliseconds (serial × 86,400,000), NaN outside 1900-01-01 to 9999-12-31. Excel believes in
 * 1900-02-29, so days before 1900-03-01 count one less.
 */
export function excelSerialMillis(wallClock: number): number {
  const day = Math.floor(wallClock / DAY) + EPOCH
  if (!(day >= 2 && day <= LAST_DAY)) return Number.NaN
  return wallClock + (day < 61 ? EPOCH - 1 : EPOCH) * DAY
}

function two(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]!
  const ones = bytes[at + 1]!
  return isDigit(tens) && isDigit(ones) ? (tens - 48) * 10 + ones - 48 : Number.NaN
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Days since 1970-01-01 in the Gregorian calendar, with years that begin in March so that leap days come last. */
function daysFromEpoch(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
