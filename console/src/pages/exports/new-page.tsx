import { useTranslation } from 'react-i18next'
import { PageHead } from '../../parts/page-head.tsx'

export function NewExportPage() {
  const { t } = useTranslation()
  return <PageHead title={t('exports.new_export')} />
}
