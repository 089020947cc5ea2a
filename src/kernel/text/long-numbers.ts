import { compareNumber, isSafeNumber } from 'lossless-json'

/** A number that JavaScript would round, as it was written. */
export class ExactNumber {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }

  toString(): string {
    return this.digits
  }
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

/** What has neither so many digits nor an exponent has no number that would be rounded. */
const MAY_BE_LONG = /[\d.]{16}|\d[eE]/

/** `JSON.parse`, with a number that JavaScript would round as its text, or as `ofLong` says. */
export function parseKeepingDigits(
  text: string,
  ofLong: (digits: string) => unknown = (digits) => digits,
): unknown {
  if (!MAY_BE_LONG.test(text)) return JSON.parse(text)
  const revive: Reviver = (_, value, { source }) =>
    typeof value !== 'number' || source === undefined || isSafeNumber(source) ? value : ofLong(source)
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown)
}

/** Whether JavaScript's number is the very one that is written, if need be with the 17 digits that tell any two apart. */
export function hasAllDigits(digits: string): boolean {
  const value = Number(digits)
  if (!Number.isFinite(value)) return false
  return [String(value), value.toPrecision(17)].some((text) => compareNumber(text, digits) === 0)
}
