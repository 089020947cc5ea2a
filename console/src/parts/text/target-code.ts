import { useTranslation } from 'react-i18next'

/** What a target of a delivery failed with, in words. */
export function useCodeText(): (code: number) => string {
  const { t, i18n } = useTranslation()
  return (code) => {
    const key = `transfers.code.${code}`
    return i18n.exists(key) ? i18n.t(key as 'transfers.code.117') : t('transfers.code.other')
  }
}
