import { LogoutOutlined } from '@ant-design/icons'
import { Button, Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { signOut } from '../api/session.ts'
import { LinkState } from './link-state.tsx'
import { Preferences } from './preferences.tsx'

export function SessionMenu() {
  const { t } = useTranslation()
  return (
    <div className="session-menu">
      <LinkState />
      <Preferences />
      <Tooltip title={t('common.sign_out')}>
        <Button
          type="text"
          icon={<LogoutOutlined />}
          aria-label={t('common.sign_out')}
          onClick={() => signOut()}
        />
      </Tooltip>
    </div>
  )
}
