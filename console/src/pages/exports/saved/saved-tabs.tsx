import { Segmented } from 'antd'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'

/** Between the two kinds of things that have names. */
export function SavedTabs({ here }: { here: 'exports' | 'templates' }) {
  const { t } = useTranslation()
  const [, go] = useLocation()
  return (
    <Segmented
      aria-label={t('make.saved.title')}
      value={here}
      onChange={(value) => go(`/saved/${value}`)}
      options={(['exports', 'templates'] as const).map((value) => ({
        value,
        label: t(`make.saved.${value}`),
      }))}
    />
  )
}
