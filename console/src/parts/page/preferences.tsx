import { DesktopOutlined, MoonOutlined, SunOutlined } from '@ant-design/icons'
import { Button, Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { switchLanguage } from '../../i18n/start.ts'
import { useStore } from '../../store.ts'
import { type Mode, mode, setMode } from '../../theme/mode.ts'
import './preferences.css'

const NEXT: Record<Mode, Mode> = { system: 'light', light: 'dark', dark: 'system' }
const ICONS = { system: DesktopOutlined, light: SunOutlined, dark: MoonOutlined }

/** Language and light; both are kept in this browser. */
export function Preferences() {
  const { t, i18n } = useTranslation()
  const current = useStore(mode)
  const Icon = ICONS[current]
  const other = i18n.language === 'zh' ? 'en' : 'zh'
  return (
    <span className="preferences">
      <Button type="text" lang={other === 'zh' ? 'zh-CN' : 'en'} onClick={() => void switchLanguage(other)}>
        {other === 'zh' ? '中文' : 'English'}
      </Button>
      <Tooltip title={t(`common.theme.${current}`)}>
        <Button
          type="text"
          icon={<Icon />}
          aria-label={t(`common.theme.${current}`)}
          onClick={() => setMode(NEXT[current])}
        />
      </Tooltip>
    </span>
  )
}
