import { type Warning, warn } from '../../warnings/index.ts'

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
