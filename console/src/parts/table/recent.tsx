import { Select } from 'antd'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { oneOf, useAddressValue } from '../../live/address-value.ts'
import './recent.css'

/** How far back a list goes, by the hour; the overview counts by the same. */
export const RECENT = ['1h', '6h', '24h', '7d', '30d'] as const
export type Recent = (typeof RECENT)[number]

const HOUR_MS = 3_600_000
const HOURS: Record<Recent, number> = { '1h': 1, '6h': 6, '24h': 24, '7d': 168, '30d': 720 }

export function sinceOf(recent: Recent): string {
  return new Date(Date.now() - HOURS[recent] * HOUR_MS).toISOString()
}

/** In the address; `since` stays the same until another one is chosen. */
export function useRecent() {
  const [recent, setRecent] = useAddressValue('period', oneOf(RECENT))
  const since = useMemo(() => recent && sinceOf(recent), [recent])
  return { recent, setRecent, since }
}

export function RecentChoice({ recent, setRecent }: Omit<ReturnType<typeof useRecent>, 'since'>) {
  const { t } = useTranslation()
  return (
    <Select<Recent | null>
      allowClear
      className="recent-choice"
      aria-label={t('lists.filter.period')}
      placeholder={t('lists.filter.period')}
      value={recent ?? null}
      onChange={(next) => setRecent(next ?? undefined)}
      options={RECENT.map((value) => ({ value, label: t(`lists.period.${value}`) }))}
    />
  )
}
