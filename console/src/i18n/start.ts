import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import type en from './en/index.ts'

export type Language = 'en' | 'zh'

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en }
  }
}

const KEPT_AS = 'wharf.language'

const BUNDLES = {
  en: () => import('./en/index.ts'),
  zh: () => import('./zh/index.ts'),
} satisfies Record<Language, () => Promise<{ default: object }>>

function preferred(): Language {
  const kept = localStorage.getItem(KEPT_AS)
  if (kept === 'en' || kept === 'zh') return kept
  const known = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())
  return known.find((tag) => tag === 'en' || tag === 'zh') === 'zh' ? 'zh' : 'en'
}

async function load(language: Language): Promise<void> {
  if (i18next.hasResourceBundle(language, 'translation')) return
  i18next.addResourceBundle(language, 'translation', (await BUNDLES[language]()).default)
}

async function use(language: Language): Promise<void> {
  await load(language)
  await i18next.changeLanguage(language)
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

export async function startI18n(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: {},
    fallbackLng: false,
    interpolation: { escapeValue: false },
    react: { useSuspense: false },
  })
  await use(preferred())
}

export async function switchLanguage(language: Language): Promise<void> {
  localStorage.setItem(KEPT_AS, language)
  await use(language)
}
