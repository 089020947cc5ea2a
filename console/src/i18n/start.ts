import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import type errors from './en/errors.json'
import type en from './en/index.ts'
import type make from './en/make.json'

export type Language = 'en' | 'zh'

type Base = typeof en

interface Words extends Base {
  make: typeof make
}

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: Words; errors: typeof errors }
  }
}

const KEPT_AS = 'wharf.language'

const BUNDLES = {
  en: () => import('./en/index.ts'),
  zh: () => import('./zh/index.ts'),
} satisfies Record<Language, () => Promise<{ default: object }>>

/** Sentences for all codes of the server. Nothing is shown with them at first, so they come after the first view. */
const ERRORS = {
  en: () => import('./en/errors.json'),
  zh: () => import('./zh/errors.json'),
} satisfies Record<Language, () => Promise<{ default: object }>>

/** Words of the pages that make exports: they are many, and the list of exports has no use for them. */
const MAKE = {
  en: () => import('./en/make.json'),
  zh: () => import('./zh/make.json'),
} satisfies Record<Language, () => Promise<{ default: object }>>

let wantsMake = false

function preferred(): Language {
  const kept = localStorage.getItem(KEPT_AS)
  if (kept === 'en' || kept === 'zh') return kept
  const known = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())
  return known.find((tag) => tag === 'en' || tag === 'zh') === 'zh' ? 'zh' : 'en'
}

async function load(language: Language): Promise<void> {
  if (!i18next.hasResourceBundle(language, 'translation'))
    i18next.addResourceBundle(language, 'translation', (await BUNDLES[language]()).default)
  if (wantsMake && !i18next.exists('make', { lng: language }))
    i18next.addResourceBundle(language, 'translation', { make: (await MAKE[language]()).default }, true)
}

/** Before a page is drawn that needs them. */
export async function loadMakeWords(): Promise<void> {
  wantsMake = true
  await load(i18next.language as Language)
}

/** Where this fails, an error shows its code and the server's words; the next change of language tries again. */
async function loadErrors(language: Language): Promise<void> {
  if (i18next.hasResourceBundle(language, 'errors')) return
  const found = await ERRORS[language]().catch(() => null)
  if (found) i18next.addResourceBundle(language, 'errors', found.default)
}

async function use(language: Language): Promise<void> {
  await load(language)
  await i18next.changeLanguage(language)
  void loadErrors(language)
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

export async function startI18n(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: {},
    fallbackLng: false,
    interpolation: { escapeValue: false },
    react: { useSuspense: false, bindI18nStore: 'added' },
  })
  await use(preferred())
}

export async function switchLanguage(language: Language): Promise<void> {
  localStorage.setItem(KEPT_AS, language)
  await use(language)
}
