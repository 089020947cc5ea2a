import { useTranslation } from 'react-i18next'
import type { Target } from './target-list.ts'

/** `error_code` in words, and how far a download is. */
export function useTargetText(): (target: Pick<Target, 'kind' | 'code' | 'message' | 'progress'>) => string {
  const { t } = useTranslation()
  const codeText = useCodeText()
  return ({ kind, code, progress }) => {
    const name = t(`transfers.kind.${kind}`)
    if (kind === 'downloading') return `${name} · ${progress} %`
    return kind === 'failed' || kind === 'timeout' ? `${name} · ${codeText(code)} (${code})` : name
  }
}

export function useCodeText(): (code: number) => string {
  const { t, i18n } = useTranslation()
  return (code) => {
    const key = `transfers.code.${code}`
    return i18n.exists(key) ? i18n.t(key as 'transfers.code.117') : t('transfers.code.other')
  }
}
