/** A condition that the form can show; every other one is a text of its own. */
export interface SimpleCondition {
  operator: Operator
  value: string
}

export const OPERATORS = ['=', '!=', '>', '>=', '<', '<=', 'contains', 'begins', 'empty'] as const
export type Operator = (typeof OPERATORS)[number]

const COMPARISON = /^(==|=|!=|<>|>=|<=|>|<)\s*(?:(-?\d+(?:\.\d+)?)|'((?:[^']|'')*)'|"((?:[^"]|"")*)")$/
const LIKE = /^like\s+'((?:[^']|'')*)'$/i
const SAME: Record<string, Operator> = { '==': '=', '<>': '!=' }

export function writeCondition({ operator, value }: SimpleCondition): string {
  if (operator === 'empty') return '= null'
  const pattern = value.replace(/[\\%_]/g, '\\$&')
  if (operator === 'contains') return `like ${quoted(`%${pattern}%`)}`
  if (operator === 'begins') return `like ${quoted(`${pattern}%`)}`
  return `${operator} ${/^-?\d+(?:\.\d+)?$/.test(value) ? value : quoted(value)}`
}

/** Undefined where the form would say something else. */
export function readCondition(text: string): SimpleCondition | undefined {
  const condition = text.trim()
  if (/^==?\s*null$/i.test(condition)) return { operator: 'empty', value: '' }
  const [, sign, number, single, double] = COMPARISON.exec(condition) ?? []
  if (sign !== undefined) {
    const value = number ?? single?.replaceAll("''", "'") ?? double?.replaceAll('""', '"') ?? ''
    // A number in quotes compares as a text where it is one.
    if (number === undefined && /^-?\d+(?:\.\d+)?$/.test(value)) return undefined
    return { operator: SAME[sign] ?? (sign as Operator), value }
  }
  const pattern = LIKE.exec(condition)?.[1]?.replaceAll("''", "'")
  if (pattern === undefined || !pattern.endsWith('%')) return undefined
  const begins = pattern === '%' || !pattern.startsWith('%')
  const inner = pattern.slice(begins ? 0 : 1, -1)
  const value = inner.replace(/\\([\\%_])/g, '$1')
  const isPlain = inner === value.replace(/[\\%_]/g, '\\$&')
  return isPlain ? { operator: begins ? 'begins' : 'contains', value } : undefined
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
