import { useTranslation } from 'react-i18next'
import type { AccountParams } from '../../../api/runs.ts'
import { useFormat } from '../../../parts/text/format.ts'

/** An account's filters, a few words each. */
export function useFilterTexts(): (params: AccountParams) => string[] {
  const { t } = useTranslation()
  const format = useFormat()
  return ({ types, min_size, max_size, since, until, limit }) => {
    const texts: string[] = []
    if (types?.length) texts.push(types.join(', '))
    if (min_size !== undefined) texts.push(`≥ ${format.bytes(min_size)}`)
    if (max_size !== undefined) texts.push(`≤ ${format.bytes(max_size)}`)
    if (since !== undefined) texts.push(t('runs.filter.since', { date: since }))
    if (until !== undefined) texts.push(t('runs.filter.until', { date: until }))
    if (limit !== undefined) texts.push(t('runs.filter.limit', { limit }))
    return texts
  }
}
