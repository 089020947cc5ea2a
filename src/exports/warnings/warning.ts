import { WARNINGS, type WarningCode, type WarningValue, type WarningValues } from './warning-kinds.ts'

/** What somebody should hear of, though the file is there. */
export interface Warning {
  code: WarningCode
  table: string | null
  values: Readonly<Record<string, WarningValue>>
  message: string
}

export function warn<C extends WarningCode>(code: C, values: WarningValues<C>): Warning {
  const kept = { ...values } as Warning['values']
  return { code, table: null, values: kept, message: warningSentence('en', code, kept) }
}

/** The same warning, of a table of several. */
export function ofTable(warning: Warning, table: string): Warning {
  return { ...warning, table, message: `${table}: ${warning.message}` }
}

export function warningSentence(language: 'en' | 'zh', code: WarningCode, values: Warning['values']): string {
  return (WARNINGS[code][language] as (values: Warning['values']) => string)(values)
}
