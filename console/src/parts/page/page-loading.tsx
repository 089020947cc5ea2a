import { useTranslation } from 'react-i18next'
import './page-loading.css'

/** A line at the top; what takes long says so in words, because an empty page looks broken. */
export function PageLoading() {
  const { t } = useTranslation()
  return (
    <div role="status">
      <div className="page-loading">
        <span className="visually-hidden">{t('common.loading')}</span>
      </div>
      <p className="page-loading-long">{t('common.loading_long')}</p>
    </div>
  )
}
