import type { SheetPlan } from '../../sheet/index.ts'
import { type Measured, moreDigits, numberSize } from './column-widths.ts'
import type { NumberSize } from './formatted-width.ts'

/** Characters that `General` shows of a number; more are rounded away, or become an exponent. */
const GENERAL = 11
/** A longer fraction is most often what a computation left over, which eight decimals hide. Small numbers of the column are still to be seen. */
const MOST_DECIMALS = 4
const LONG_DECIMALS = '0.00######'
/** `General` leaves room for two decimals after these. */
const LONGEST_WITH_CENTS = 8

/** The format that shows numbers whole which `General` would not. Undefined: it shows them. */
function plainFormat({ whole, rest }: NumberSize): string | undefined {
  if (whole + rest <= GENERAL) return undefined
  if (rest === 0) return '0'
  const decimals = rest - 1
  if (decimals <= MOST_DECIMALS) return `0.${'0'.repeat(decimals)}`
  return whole > LONGEST_WITH_CENTS ? LONG_DECIMALS : undefined
}

/** A plan whose columns without a format of their own, and their totals, get one where `General` would not show their numbers whole. */
export function showingWhole(plan: SheetPlan, measured: Measured, rows: number): SheetPlan {
  const columns = plan.columns.map((column) => {
    const { type, style, total } = column
    if ((type !== 'auto' && type !== 'number') || style.format !== undefined) return column
    const size = measured.digits && numberSize(column, measured)
    if (!size) return column
    const format = plainFormat(size)
    const more = total === 'sum' ? moreDigits(rows) : 0
    const totalFormat = total && plainFormat({ ...size, whole: size.whole + more })
    return {
      ...column,
      ...(format !== undefined && { style: { ...style, format } }),
      ...(totalFormat !== undefined && { totalFormat }),
    }
  })
  return { ...plan, columns }
}
