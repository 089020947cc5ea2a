import type { i18n } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { ExportWarning } from '../../api/export-texts.ts'
import { useFormat } from '../../parts/text/format.ts'

/** A warning in the language of the page; what has no code, or one of a newer server, as it is. */
export function useWarningText(): (warning: ExportWarning) => string {
  const { i18n } = useTranslation('warnings')
  const format = useFormat()
  return (warning) => warningText(i18n, warning, format.number)
}

export function warningText(
  { t, exists }: Pick<i18n, 't' | 'exists'>,
  { code, table, values, message }: ExportWarning,
  number: (value: number) => string,
): string {
  // Looked for with its count: where a sentence has forms for one and for many, there is none without.
  if (code === null || !exists(code, { ns: 'warnings', ...values })) return message
  const said = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'number') return [name, name === 'count' ? value : number(value)]
    if (typeof value !== 'string') return [name, value.join(t('and', { ns: 'warnings' }))]
    // Several columns show the same key: the title says which one is meant.
    if (name === 'column' && typeof values.title === 'string') return [name, `${value} (${values.title})`]
    const word = `${name}.${value}`
    const known = NAMED.has(name) && exists(word, { ns: 'warnings' })
    return [name, known ? t(word as 'type.auto', { ns: 'warnings' }) : value]
  })
  const shown = typeof values.count === 'number' ? { shown: number(values.count) } : {}
  const text = t(code as 'TEMPLATE_OVERRULED', {
    ns: 'warnings',
    ...(Object.fromEntries(said) as object),
    ...shown,
  })
  return table === null ? text : t('table', { ns: 'warnings', table, text })
}

/** Values that are words of Wharf: types of columns, kinds of totals. */
const NAMED = new Set(['type', 'total'])
