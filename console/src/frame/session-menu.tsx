import { LogoutOutlined } from '@ant-design/icons'
import { Button, Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { session } from '../api/session.ts'
import { leave } from '../api/who.ts'
import { useToasts } from '../parts/dialog/toasts.tsx'
import { Preferences } from '../parts/page/preferences.tsx'
import { useStore } from '../store.ts'
import { LinkState } from './link-state.tsx'
import { NoticeSwitch } from './notice-switch.tsx'
import { ReadOnly } from './read-only.tsx'

export function SessionMenu() {
  const { t } = useTranslation()
  const toasts = useToasts()
  const person = useStore(session)?.person ?? null
  return (
    <div className="session-menu">
      {person !== null && <span className="session-menu-person">{person}</span>}
      <ReadOnly />
      <LinkState />
      <NoticeSwitch />
      <Preferences />
      <Tooltip title={t('common.sign_out')}>
        <Button
          type="text"
          icon={<LogoutOutlined />}
          aria-label={t('common.sign_out')}
          onClick={() => leave().catch(toasts.problem)}
        />
      </Tooltip>
    </div>
  )
}
