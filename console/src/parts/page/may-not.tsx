import { useTranslation } from 'react-i18next'
import { EmptyState } from './empty-state.tsx'

/** In place of a form that the session may not send. */
export function MayNot() {
  const { t } = useTranslation()
  return <EmptyState title={t('common.may_not.title')} text={t('common.may_not.text')} />
}
