import { useTranslation } from 'react-i18next'
import { useFormat } from './format.ts'
import { useTicking } from './ticking.ts'

/** How long ago a moment was, or how soon it will be; the exact one on hover. `coming`: what is due now has not happened yet. */
export function RelativeTime({ at, coming = false }: { at: string; coming?: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useTicking()
  return (
    <time dateTime={at} title={format.exact(at)}>
      {(coming && Date.parse(at) <= now ? null : format.ago(at, now)) ??
        t(coming ? 'common.soon' : 'common.just_now')}
    </time>
  )
}
