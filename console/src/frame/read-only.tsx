import { Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { onlyLooks, session } from '../api/session.ts'
import { useStore } from '../store.ts'

/** Says why there are no buttons that change anything. */
export function ReadOnly() {
  const { t } = useTranslation()
  const shown = onlyLooks(useStore(session))
  if (!shown) return null
  return (
    <Tooltip title={t('common.may_not.text')}>
      <span className="read-only">{t('common.may_not.badge')}</span>
    </Tooltip>
  )
}
