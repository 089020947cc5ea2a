import { defaultFormat } from './number-format.ts'
import type { DataColumn } from './sheet-plan.ts'

/** Numbers of a column, from `least` to less than `limit`, that its format would show as zero. They are shown under a format of their own. */
export interface SmallNumbers {
  least: number
  limit: number
  /** Missing: `General`. */
  format?: string
}

/** Of amounts, and of whatever is added up, less than this is what a computation left over. */
const REMAINDER = 1e-9
/** `General` would show a share as a hundredth of what it is, and LibreOffice knows no exponent with a percent sign. */
const SMALL_SHARE = '0.00###%'
const LEAST_SHARE = 5e-8

/** Null where nothing is hidden, or where the template asks for its format. */
export function smallNumbers(
  { type, style, ownFormat }: Pick<DataColumn, 'type' | 'style' | 'ownFormat'>,
  /** What is shown of a total. */
  total?: { format: string | undefined; isComputed: boolean },
): SmallNumbers | null {
  if (ownFormat) return null
  const code = total ? total.format : (style.format ?? defaultFormat(type))
  const [, decimals, percent] = /^[#,]*0(?:\.([0#]+))?(%?)$/.exec(code ?? '') ?? []
  if (percent === undefined) return null
  const places = decimals?.length ?? 0
  if (percent === '%') return { least: LEAST_SHARE, limit: 0.005 / 10 ** places, format: SMALL_SHARE }
  return {
    least: type === 'money' || total?.isComputed ? REMAINDER : Number.MIN_VALUE,
    limit: 0.5 / 10 ** places,
  }
}

export function isSmall(value: number, small: SmallNumbers | null): boolean {
  const size = Math.abs(value)
  return small !== null && size >= small.least && size < small.limit
}
