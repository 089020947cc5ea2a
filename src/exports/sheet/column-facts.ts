/**
 * What is counted of each column while its cells are written. Counting changes nothing in the file; the file's report
 * shows it. Threads count piece by piece into `FACTS` numbers per column, which are added up when the pieces are put together.
 *
 * - `nulls`: cells that are empty: null, a key that the row lacks, an empty text.
 * - `misfits`: values that are not shown as their column's type asks. Most stay text: words in a number column, what is no
 *   date in a date column, integers of more than 15 digits (which also count where the column has no type).
 * - `long`: of these misfits, numbers with more than 15 digits before the point, which a workbook keeps as text.
 * - `rounded`: numbers of a workbook that lost cents, because they have more than the 15 digits that Excel keeps.
 * - `escaped`: texts of a CSV file, the column's title included, that look like formulas and have an apostrophe before them.
 * - `cuts`: texts that were too long for a cell.
 * - `longest`: characters (UTF-16 units, as spreadsheets count them) of the longest text, before it was cut.
 */
export interface ColumnCounts {
  nulls: number
  misfits: number
  long: number
  rounded: number
  escaped: number
  cuts: number
  longest: number
}

export const FACTS = 7
export const NULLS = 0
export const MISFITS = 1
export const CUTS = 2
export const LONGEST = 3
export const ESCAPES = 4
export const LONG = 5
export const ROUNDED = 6

export function noFacts(columns: number): Float64Array {
  return new Float64Array(columns * FACTS)
}

export function addFacts(sum: Float64Array, more: Float64Array): void {
  for (let n = 0; n < more.length; n++)
    sum[n] = n % FACTS === LONGEST ? Math.max(sum[n]!, more[n]!) : sum[n]! + more[n]!
}

/** By column. */
export function countsOf(facts: Float64Array): ColumnCounts[] {
  return Array.from({ length: facts.length / FACTS }, (_, column) => {
    const at = (fact: number) => facts[column * FACTS + fact]!
    return {
      nulls: at(NULLS),
      misfits: at(MISFITS),
      long: at(LONG),
      rounded: at(ROUNDED),
      escaped: at(ESCAPES),
      cuts: at(CUTS),
      longest: at(LONGEST),
    }
  })
}
