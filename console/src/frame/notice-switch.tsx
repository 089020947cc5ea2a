import { BellFilled, BellOutlined } from '@ant-design/icons'
import { Button, Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { useToasts } from '../parts/dialog/toasts.tsx'
import { useStore } from '../store.ts'
import { canNotify, notices, setNotices } from './notices.ts'

/** Asks the browser, when it is pressed and not before, whether the page may tell that an export is done. */
export function NoticeSwitch() {
  const { t } = useTranslation()
  const toasts = useToasts()
  const on = useStore(notices)
  if (!canNotify) return null
  const change = async () => {
    const now = await setNotices(!on)
    if (now) toasts.success(t('common.notices.now_on'))
    else if (!on) toasts.warning(t('common.notices.blocked'))
  }
  return (
    <Tooltip title={t(on ? 'common.notices.on' : 'common.notices.off')}>
      <Button
        type="text"
        icon={on ? <BellFilled /> : <BellOutlined />}
        aria-label={t('common.notices.title')}
        aria-pressed={on}
        onClick={() => void change()}
      />
    </Tooltip>
  )
}
