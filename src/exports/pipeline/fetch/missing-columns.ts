import { AppError, closest, ERRORS } from '../../../kernel/index.ts'
import { templateError } from '../../condition/index.ts'
import type { Spool } from '../../sources/index.ts'
import type { MaskRules, Template } from '../../template/index.ts'
import { type Warning, warn } from '../../warnings/index.ts'

/** Keys without a column are remembered up to this number: with more of them, a name that is not found may still exist. */
const REMEMBERED = 1_000

/**
 * Warnings about columns of the template that no row has: most often a misspelt name. A mask must not pass in silence: one that is
 * named by the caller and hides nothing, or is on a column that is most likely misspelt, is an error. Later rows may have what the first
 * ones lack, so `partial` rows refuse nothing.
 */
export function missingColumns(
  spool: Spool,
  { template, counted, partial }: { template: Template; counted: boolean; partial: boolean },
  masks: MaskRules,
): Warning[] {
  if (spool.rows === 0) return []
  if (masks.mustMatch) requireMasked(spool, Object.keys(masks.demanded))
  if (template.fromKeys) return []
  const masked = new Set(template.leaves.flatMap(({ name, mask }) => (mask ? [name] : [])))
  const seen = new Set(spool.probe.keys)
  return spool.fields.flatMap((name, field) => {
    if (name === null || seen.has(name) || !isEmpty(spool, field, counted)) return []
    const meant = meantBy(name, spool.unwanted)
    if (meant === undefined) return [warn('COLUMN_EMPTY', { column: name })]
    if (masked.has(name) && !partial)
      throw templateError(
        'template',
        `no row has a value for the masked column ${name}; did you mean ${meant}?`,
      )
    return [warn('COLUMN_MISSPELT', { column: name, meant })]
  })
}

/** `counted`: of CSV records, where the widths are those of texts alone, empty values are counted. */
function isEmpty({ widths, counts: { nulls }, rows }: Spool, field: number, counted: boolean): boolean {
  return widths[field] === 0 && (!counted || nulls[field] === rows)
}

function requireMasked({ fields, unwanted, probe }: Spool, names: readonly string[]): void {
  if (unwanted.length >= REMEMBERED) return
  const known = [...new Set([...fields, ...unwanted, ...probe.keys])].filter((name) => name !== null)
  for (const name of names) {
    if (known.some((key) => key === name || isInside(key, name) || isInside(name, key))) continue
    const meant = meantBy(name, known)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new AppError(
      ERRORS.REQUEST_INVALID,
      `the mask of column ${name} hides nothing: no row has that column${hint}`,
      { retryable: false },
    )
  }
}

/** Whether `path` leads into the value of `name`. */
function isInside(path: string, name: string): boolean {
  return path.startsWith(`${name}.`)
}

/** Of a path, its first key may be the misspelt one. */
function meantBy(name: string, known: readonly string[]): string | undefined {
  const whole = closest(name, known)
  if (whole !== undefined || !name.includes('.')) return whole
  const [root = '', ...rest] = name.split('.')
  const meant = closest(root, known)
  return meant === undefined || meant === root ? undefined : [meant, ...rest].join('.')
}

/** What warnings that speak of all rows become where only the first ones were read, as for a preview. */
const OF_FIRST_ROWS = {
  COLUMN_EMPTY: 'COLUMN_EMPTY_AT_FIRST',
  COLUMN_MISSPELT: 'COLUMN_MISSPELT_AT_FIRST',
  KEY_IN_NO_ROW: 'KEY_NOT_AT_FIRST',
  NO_KEYS_NO_COLUMNS: 'NO_KEYS_AT_FIRST',
} as const

export function ofFirstRows(warning: Warning, rows: number): Warning {
  const { code, values } = warning
  if (!Object.hasOwn(OF_FIRST_ROWS, code)) return warning
  return warn(OF_FIRST_ROWS[code as keyof typeof OF_FIRST_ROWS], { ...values, rows } as never)
}
