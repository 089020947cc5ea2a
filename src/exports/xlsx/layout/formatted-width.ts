import { displayWidth, shownText } from '../../sheet/index.ts'

/** Digits that a spreadsheet keeps. */
const DIGITS = 15
/** 30 September 2026 was a Wednesday: no date has longer names. At 22:58:58, of which all digits are wide. */
const WIDE_DATE = 46_295.957_615_74

/** Characters of numbers before the point, sign included, and from it on. */
export interface NumberSize {
  whole: number
  rest: number
}

/**
 * What numbers of up to that size take under a format. Every length is tried, of either sign, and zero: a format may show each of them
 * in another way.
 */
export function numberWidth(code: string, { whole, rest }: NumberSize): number {
  let widest = shownWidth(code, 0)
  for (let length = 1; length <= Math.min(whole, DIGITS + 1); length += 1) {
    if (length <= DIGITS) widest = Math.max(widest, shownWidth(code, numberOf(length, rest)))
    // One of the characters is the sign.
    if (length > 1) widest = Math.max(widest, shownWidth(code, -numberOf(length - 1, rest)))
  }
  return widest
}

/** The same of numbers with so many digits before the point, sign included, whatever is left of them. */
export function powerWidth(code: string, digits: number): number {
  return Math.max(shownWidth(code, Number(`8e${digits - 1}`)), shownWidth(code, -Number(`8e${digits - 2}`)))
}

export function dateWidth(code: string): number {
  return shownWidth(code, WIDE_DATE)
}

/** 888.88, for the digits that it has. */
function numberOf(whole: number, rest: number): number {
  const decimals = Math.max(0, Math.min(rest - 1, DIGITS - whole))
  return Number(`${'8'.repeat(whole)}.${'8'.repeat(decimals)}`)
}

function shownWidth(code: string, value: number): number {
  try {
    return displayWidth(shownText(code, value))
  } catch {
    // A format that only Excel knows: it shows about as much as it is long.
    return displayWidth(code)
  }
}
