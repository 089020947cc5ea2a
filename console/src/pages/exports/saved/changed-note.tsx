import { Alert, Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../parts/text/format.ts'

/** Nothing was saved, because something else was saved before. */
export function ChangedNote({
  at,
  isNew = false,
  onAnyway,
}: {
  at: string
  isNew?: boolean
  onAnyway(): void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const time = format.exact(at)
  return (
    <Alert
      className="make-gap"
      type="warning"
      showIcon
      title={isNew ? t('make.saving.exists', { time }) : t('make.saving.changed', { time })}
      description={
        <>
          <p>{isNew ? t('make.saving.exists_text') : t('make.saving.changed_text')}</p>
          <Button size="small" danger onClick={onAnyway}>
            {t('make.saving.anyway')}
          </Button>
        </>
      }
    />
  )
}
