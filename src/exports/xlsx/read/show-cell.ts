import { format, formatColor, isDateFormat } from 'numfmt'

/** What a cell shows, and as what. */
export interface ShownValue {
  type: 'text' | 'number' | 'date' | 'boolean'
  value: string | number | boolean
  text: string
  /** RRGGBB, where the number format has a colour for the value. */
  color?: string
}

const COLORS: Record<string, string> = {
  black: '000000',
  white: 'FFFFFF',
  red: 'FF0000',
  green: '00FF00',
  blue: '0000FF',
  yellow: 'FFFF00',
  cyan: '00FFFF',
  magenta: 'FF00FF',
}

/** A value under a number format, as a spreadsheet shows it. */
export function showValue(value: string | number | boolean, code = 'General'): ShownValue {
  if (typeof value === 'boolean') return { type: 'boolean', value, text: value ? 'TRUE' : 'FALSE' }
  const type = typeof value === 'string' ? 'text' : isDateFormat(code) ? 'date' : 'number'
  try {
    const color = colorOf(formatColor(code, value))
    return { type, value, text: format(code, value), ...(color !== undefined && { color }) }
  } catch {
    // A format that only Excel knows.
    return { type, value, text: String(value) }
  }
}

function colorOf(found: unknown): string | undefined {
  if (typeof found !== 'string') return undefined
  return COLORS[found] ?? (/^#[0-9A-F]{6}$/i.test(found) ? found.slice(1) : undefined)
}
