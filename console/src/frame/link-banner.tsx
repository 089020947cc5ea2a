import { Alert, Button } from 'antd'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { LiveConnection } from '../live/connection.ts'
import { useLive } from '../live/live.tsx'
import { useStore } from '../store.ts'

/** Says that what is shown may be old, and goes away by itself. */
export function LinkBanner() {
  const live = useLive()
  return live && <Banner live={live} />
}

function Banner({ live }: { live: LiveConnection }) {
  const { t } = useTranslation()
  const link = useStore(live.link)
  const nextTryAt = useStore(live.nextTryAt)
  const seconds = useSecondsUntil(nextTryAt)
  if (link !== 'offline') return null
  return (
    <Alert
      className="link-banner"
      type="warning"
      showIcon
      role="status"
      title={t('common.offline.title')}
      description={t('common.offline.text', { seconds })}
      action={<Button onClick={() => live.tryNow()}>{t('common.offline.try_now')}</Button>}
    />
  )
}

function useSecondsUntil(at: number | null): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (at === null) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [at])
  return at === null ? 0 : Math.max(0, Math.ceil((at - now) / 1_000))
}
