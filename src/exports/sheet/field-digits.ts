/**
 * The most characters that numbers of a field have before their point, sign included, and from it on; then the same of texts that are
 * numbers; the digits before the point of numbers that an exponent makes longer than a spreadsheet keeps; the width of the widest
 * text. All 0: there are none. By these a column is made as wide as its format shows them.
 */
export type FieldDigits = readonly [
  whole: number,
  rest: number,
  textWhole: number,
  textRest: number,
  /** Missing in what version 0.2.0 has spooled, as is the last one. */
  power?: number,
  texts?: number,
]

export const NO_DIGITS: FieldDigits = [0, 0, 0, 0, 0, 0]

export function mostDigits(all: readonly FieldDigits[]): FieldDigits {
  const most = (place: number) => Math.max(0, ...all.map((digits) => digits[place] ?? 0))
  return [most(0), most(1), most(2), most(3), most(4), most(5)]
}
