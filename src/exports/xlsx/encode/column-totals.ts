/**
 * What is added up of each column with a total, while its cells are written: `TOTALS` numbers per column. Threads add up piece by
 * piece, which are added when the pieces are put together, per group of rows and per file.
 */
export const TOTALS = 6
/** Cells that hold a number, and cells that hold anything. */
export const NUMBERS = 0
export const FILLED = 1
const SUM = 2
/** What the sum has lost to rounding so far (Neumaier). */
const LOST = 3
export const LEAST = 4
export const MOST = 5

export function noTotals(columns: number): Float64Array {
  const totals = new Float64Array(columns * TOTALS)
  for (let at = 0; at < totals.length; at += TOTALS) {
    totals[at + LEAST] = Number.POSITIVE_INFINITY
    totals[at + MOST] = Number.NEGATIVE_INFINITY
  }
  return totals
}

/** `at`: where the column's numbers begin. */
export function addValue(totals: Float64Array, at: number, value: number): void {
  totals[at + NUMBERS]! += 1
  addToSum(totals, at, value)
  if (value < totals[at + LEAST]!) totals[at + LEAST] = value
  if (value > totals[at + MOST]!) totals[at + MOST] = value
}

export function addTotals(totals: Float64Array, more: Float64Array): void {
  for (let at = 0; at < more.length; at += TOTALS) {
    totals[at + NUMBERS]! += more[at + NUMBERS]!
    totals[at + FILLED]! += more[at + FILLED]!
    addToSum(totals, at, more[at + SUM]!)
    totals[at + LOST]! += more[at + LOST]!
    totals[at + LEAST] = Math.min(totals[at + LEAST]!, more[at + LEAST]!)
    totals[at + MOST] = Math.max(totals[at + MOST]!, more[at + MOST]!)
  }
}

function addToSum(totals: Float64Array, at: number, value: number): void {
  const before = totals[at + SUM]!
  const after = before + value
  totals[at + SUM] = after
  totals[at + LOST]! += Math.abs(before) >= Math.abs(value) ? before - after + value : value - after + before
}

/** Rounded to the 15 digits that a spreadsheet shows, so that 0.1 + 0.2 is 0.3. */
export function sumOf(totals: Float64Array, at: number): number {
  return Number((totals[at + SUM]! + totals[at + LOST]!).toPrecision(15))
}
