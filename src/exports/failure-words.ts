import { ERROR_WORDS_ZH } from '../kernel/index.ts'

/** In each language that people are notified in. The message itself is in English, as its source or Wharf gave it. */
export function failureWords({
  code,
  message,
}: {
  code: string
  message: string
}): Record<'en' | 'zh', string> {
  const detail = `${message} (${code})`
  const zh = ERROR_WORDS_ZH[code]
  return { en: detail, zh: zh === undefined ? detail : `${zh} ${detail}` }
}
