import i18next from 'i18next'
import { useTranslation } from 'react-i18next'
import en from '../../i18n/en/admin.json'
import zh from '../../i18n/zh/admin.json'

// The words of these pages come with them: the first view of others does not wait for them.
i18next.addResourceBundle('en', 'admin', en)
i18next.addResourceBundle('zh', 'admin', zh)

type Name<K extends string> = K extends `${infer Base}_one` | `${infer Base}_other` ? Base : K
type Keys<T, Above extends string = ''> = {
  [K in keyof T & string]: T[K] extends string ? `${Above}${Name<K>}` : Keys<T[K], `${Above}${K}.`>
}[keyof T & string]

type Words = (key: Keys<typeof en>, values?: Record<string, string | number | null>) => string

/** A type of its own: one more set of words among those of all pages is more than the compiler takes. */
export function useWords(): Words {
  const { i18n } = useTranslation()
  const translate = i18n.t as unknown as (key: string, options: object) => string
  return (key, values) => translate(key, { ns: 'admin', ...values })
}
