import { useTranslation } from 'react-i18next'
import './page-loading.css'

export function PageLoading() {
  const { t } = useTranslation()
  return (
    <div className="page-loading" role="status">
      <span className="visually-hidden">{t('common.loading')}</span>
    </div>
  )
}
