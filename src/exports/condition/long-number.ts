/** A number with more digits before its point than a double keeps, as it is written. Most often an id. */
export interface LongNumber {
  digits: string
}

const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/
const LONG = /^\s*[+-]?0*[1-9]\d{15,}(?:\.\d*)?\s*$/
/** No number is longer. */
const MAX_NUMBER = 400
/** Shorter texts have no digits that a double would lose. */
const EXACT = 15

/** The number that a text is, with all of its digits; undefined: it is none. */
export function readNumber(text: string): number | LongNumber | undefined {
  if (text.length > MAX_NUMBER || !NUMERIC.test(text)) return undefined
  return text.length > EXACT && LONG.test(text) ? { digits: text } : Number(text)
}

/** Negative, 0 or positive: which of the two is the larger. Long ones are compared digit by digit. */
export function orderOf(a: number | LongNumber, b: number | LongNumber): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const left = decimalOf(a)
  const right = decimalOf(b)
  if (left.negative !== right.negative) return left.negative ? -1 : 1
  const size = left.exponent - right.exponent || compareTexts(left.digits, right.digits)
  return left.negative ? -size : size
}

interface Decimal {
  negative: boolean
  /** 0.DIGITS × 10^exponent, without zeros at either end. */
  digits: string
  exponent: number
}

function decimalOf(number: number | LongNumber): Decimal {
  const text = typeof number === 'number' ? String(number) : number.digits.trim()
  const [, sign, whole = '', fraction = '', power = '0'] = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(
    text,
  )!
  const written = whole + fraction
  const digits = written.replace(/^0+/, '')
  const zeros = written.length - digits.length
  const isZero = digits === ''
  return {
    negative: sign === '-' && !isZero,
    digits: digits.replace(/0+$/, ''),
    exponent: isZero ? Number.NEGATIVE_INFINITY : whole.length - zeros + Number(power),
  }
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
