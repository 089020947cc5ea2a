import { useTranslation } from 'react-i18next'
import { useCodeText } from '../../parts/text/target-code.ts'
import type { Target } from './make/target-list.ts'

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
