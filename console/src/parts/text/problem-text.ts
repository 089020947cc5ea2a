import { useTranslation } from 'react-i18next'
import { Problem } from '../../api/problem.ts'
import { mistakeText } from './mistake-text.ts'

/** What a task or a run failed with, as the server says it. */
interface Failure {
  code: string
  message: string
}

export interface ProblemText {
  /** What happened and what to do, in the language of the page. */
  title: string
  /** What is wrong with each field, in the language of the page; else the server's own words on this case, as they are. */
  detail: string
  code: string
}

/** What to say of an error, thrown or told. */
export function useProblemText(): (error: unknown) => ProblemText {
  const { t, i18n } = useTranslation()
  return (error) => {
    if (!isFailure(error))
      return { title: t('common.problem.unexpected'), detail: String(error), code: 'CONSOLE_ERROR' }
    const { code, message } = error
    if (code === 'OFFLINE') {
      const isUnsure = error instanceof Problem && error.madeOnce
      return {
        title: t('common.problem.offline'),
        detail: isUnsure ? t('common.problem.made_once') : '',
        code,
      }
    }
    const title = i18n.exists(code, { ns: 'errors' })
      ? t(code as 'INTERNAL', { ns: 'errors' })
      : t('common.problem.refused')
    const mistakes = error instanceof Problem ? error.mistakes.filter(({ rule }) => rule !== undefined) : []
    const detail = mistakes.length > 0 ? mistakes.map((one) => mistakeText(t, one)).join('\n') : message
    return { title, detail, code }
  }
}

function isFailure(error: unknown): error is Failure {
  if (error instanceof Problem) return true
  if (typeof error !== 'object' || error === null || error instanceof Error) return false
  return 'code' in error && 'message' in error
}
