import { Alert, Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { LongText } from '../text/long-text.tsx'
import { useProblemText } from '../text/problem-text.ts'

/** An error in words, below it what the server says of this case, what happens next, and the code to search for. */
export function ProblemNote({
  error,
  next,
  onRetry,
}: {
  error: unknown
  next?: string | undefined
  onRetry?: () => void
}) {
  const { t } = useTranslation()
  const { title, detail, code } = useProblemText()(error)
  return (
    <Alert
      type="error"
      showIcon
      role="alert"
      title={title}
      description={
        <>
          {detail && (
            <div>
              <LongText text={detail} />
            </div>
          )}
          {next && <div>{next}</div>}
          <code>{code}</code>
        </>
      }
      action={onRetry && <Button onClick={onRetry}>{t('common.try_again')}</Button>}
    />
  )
}
