import { useTranslation } from 'react-i18next'
import { Problem } from '../api/problem.ts'

/** What to say of an error: in words, with the server's own detail and the code to search for. */
export function useProblemText() {
  const { t, i18n } = useTranslation()
  return (error: unknown): { title: string; detail: string; code: string } => {
    if (!(error instanceof Problem)) {
      return { title: t('common.problem.unexpected'), detail: String(error), code: 'CONSOLE_ERROR' }
    }
    const key = `common.problem.codes.${error.code}`
    const known = i18n.exists(key)
      ? i18n.t(key as 'common.problem.codes.OFFLINE')
      : t('common.problem.refused')
    return { title: known, detail: error.status === 0 ? '' : error.message, code: error.code }
  }
}
