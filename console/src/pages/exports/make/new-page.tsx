import { useTranslation } from 'react-i18next'
import { useMayChange } from '../../../live/may-change.tsx'
import { addressOf } from '../../../live/page-address.ts'
import { BackLink } from '../../../parts/page/back-link.tsx'
import { MayNot } from '../../../parts/page/may-not.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { PageLoading } from '../../../parts/page/page-loading.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { MakerForm } from './maker-form.tsx'
import { forgetDraft } from './request/stored-draft.ts'
import { useStart } from './use-start.ts'

/** Say where the rows are, look at the first ones, and ask for the file: once, or again and again. */
export function NewExportPage() {
  const { t } = useTranslation()
  const { data, error, refetch, dataUpdatedAt } = useStart()
  const saved = data?.saved ?? null
  const mayChange = useMayChange('exports')
  return (
    <>
      {saved ? (
        <BackLink href={addressOf('/saved/exports', saved.name)}>{saved.name}</BackLink>
      ) : (
        <BackLink href="/exports">{t('exports.title')}</BackLink>
      )}
      <PageHead
        title={saved ? t('make.change_saved', { name: saved.name }) : t('exports.new_export')}
        text={t('make.text')}
      />
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <PageLoading />}
      {!mayChange && <MayNot />}
      {mayChange && data && (
        <MakerForm
          key={`${data.of} ${dataUpdatedAt}`}
          start={data}
          onStartOver={() => {
            forgetDraft(data.of)
            void refetch()
          }}
        />
      )}
    </>
  )
}
