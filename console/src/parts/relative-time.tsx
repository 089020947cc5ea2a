import { useTranslation } from 'react-i18next'
import { useFormat } from './format.ts'
import { useTicking } from './ticking.ts'

/** How long ago a moment was, or how soon it will be; the exact one on hover. */
export function RelativeTime({ at }: { at: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useTicking()
  return (
    <time dateTime={at} title={format.exact(at)}>
      {format.ago(at, now) ?? t('common.just_now')}
    </time>
  )
}
