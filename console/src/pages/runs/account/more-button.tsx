import { Button } from 'antd'
import { useTranslation } from 'react-i18next'

/** The next page of a list, while there is one. */
export function MoreButton({ more }: { more: (() => void) | undefined }) {
  const { t } = useTranslation()
  if (!more) return null
  return (
    <Button className="runs-more" onClick={more}>
      {t('runs.show_more')}
    </Button>
  )
}
