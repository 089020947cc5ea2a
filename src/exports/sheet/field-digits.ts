/**
 * The most characters that numbers of a field have before their point, sign included, and from it on; then the same of texts that are
 * numbers. All 0: there are none. By these a column is made as wide as its format shows them.
 */
export type FieldDigits = readonly [whole: number, rest: number, textWhole: number, textRest: number]

export const NO_DIGITS: FieldDigits = [0, 0, 0, 0]

export function mostDigits(all: readonly FieldDigits[]): FieldDigits {
  const most = (place: number) => Math.max(0, ...all.map((digits) => digits[place]!))
  return [most(0), most(1), most(2), most(3)]
}
