import { useTranslation } from 'react-i18next'
import { BackLink } from '../../parts/back-link.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { DraftForm } from './draft-form.tsx'
import { PreviewPanel } from './preview-panel.tsx'
import { useDraft } from './use-draft.ts'

/** Paste an address, look at the first rows, and ask for the file. */
export function NewExportPage() {
  const { t } = useTranslation()
  const draft = useDraft()
  return (
    <>
      <BackLink href="/exports">{t('exports.title')}</BackLink>
      <PageHead title={t('exports.new_export')} text={t('exports.form.text')} />
      <Panel>
        <DraftForm draft={draft} />
      </Panel>
      <PreviewPanel draft={draft} />
    </>
  )
}
