import { ConfigProvider, theme } from 'antd'
import enUS from 'antd/es/locale/en_US'
import zhCN from 'antd/es/locale/zh_CN'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useStore } from '../store.ts'
import { dark, motion } from './mode.ts'
import { nonce } from './nonce.ts'
import { antdTokens } from './palette.ts'

/** antd in our colours, in the language of the page, allowed to add its styles. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const isDark = useStore(dark)
  const moves = useStore(motion)
  const { i18n } = useTranslation()
  return (
    <ConfigProvider
      csp={{ nonce }}
      // Within the page's main part, where those who only hear the page look for it.
      getPopupContainer={(trigger) => trigger?.closest('main') ?? document.body}
      button={{ autoInsertSpace: false }}
      locale={i18n.language === 'zh' ? zhCN : enUS}
      theme={{
        algorithm: isDark ? theme.darkAlgorithm : theme.defaultAlgorithm,
        // The style sheet stops all motion where that is wanted; antd would wait for its end.
        token: { ...antdTokens(isDark), motion: moves },
        components: { Button: { primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none' } },
      }}
    >
      {children}
    </ConfigProvider>
  )
}
