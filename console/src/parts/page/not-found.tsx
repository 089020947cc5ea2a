import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { EmptyState } from './empty-state.tsx'

export function NotFound() {
  const { t } = useTranslation()
  return (
    <EmptyState alone title={t('common.not_found.title')} text={t('common.not_found.text')}>
      <Link href="/">{t('common.not_found.back')}</Link>
    </EmptyState>
  )
}
