import { useTranslation } from 'react-i18next'
import type { HistoryRange } from '../../api/overview.ts'

export const RANGES: readonly HistoryRange[] = ['1h', '6h', '24h', '7d', '30d']

/** How far back the plots go. */
export function RangeChoice({
  range,
  onChoose,
}: {
  range: HistoryRange
  onChoose(range: HistoryRange): void
}) {
  const { t } = useTranslation()
  return (
    <fieldset className="overview-range">
      <legend className="visually-hidden">{t('overview.range.label')}</legend>
      {RANGES.map((value) => (
        <button key={value} type="button" aria-pressed={value === range} onClick={() => onChoose(value)}>
          {t(`overview.range.${value}`)}
        </button>
      ))}
    </fieldset>
  )
}
