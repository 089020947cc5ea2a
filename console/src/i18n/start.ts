import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import type errors from '../../../src/kernel/error-words/en.json'
import type en from './en/index.ts'
import type make from './en/make.json'
import type mistakes from './en/mistakes.json'
import type overview from './en/overview.json'
import type processing from './en/processing.json'
import type runs from './en/runs.json'
import type transfers from './en/transfers.json'
import type warnings from './en/warnings.json'

export type Language = 'en' | 'zh'

type Base = typeof en

interface Words extends Base {
  make: typeof make
  overview: typeof overview
  processing: typeof processing
  runs: typeof runs
  transfers: typeof transfers
}

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: {
      translation: Words
      errors: typeof errors
      mistakes: typeof mistakes
      warnings: typeof warnings
    }
  }
}

const KEPT_AS = 'wharf.language'

const BUNDLES = {
  en: () => import('./en/index.ts'),
  zh: () => import('./zh/index.ts'),
} satisfies Record<Language, () => Promise<{ default: object }>>

/** Sentences for all codes of the server. Nothing is shown with them at first, so they come after the first view. */
const ERRORS = {
  en: () => import('../../../src/kernel/error-words/en.json'),
  zh: () => import('../../../src/kernel/error-words/zh.json'),
} satisfies Record<Language, () => Promise<{ default: object }>>

/** Sentences for all warnings about a file. */
const WARNINGS = {
  en: () => import('./en/warnings.json'),
  zh: () => import('./zh/warnings.json'),
} satisfies Record<Language, () => Promise<{ default: object }>>

/** What can be wrong with a field of a form. */
const MISTAKES = {
  en: () => import('./en/mistakes.json'),
  zh: () => import('./zh/mistakes.json'),
} satisfies Record<Language, () => Promise<{ default: object }>>

/** Words that the list of exports has no use for: they come with the pages that need them. */
const LATER = {
  make: { en: () => import('./en/make.json'), zh: () => import('./zh/make.json') },
  overview: { en: () => import('./en/overview.json'), zh: () => import('./zh/overview.json') },
  processing: { en: () => import('./en/processing.json'), zh: () => import('./zh/processing.json') },
  runs: { en: () => import('./en/runs.json'), zh: () => import('./zh/runs.json') },
  transfers: { en: () => import('./en/transfers.json'), zh: () => import('./zh/transfers.json') },
} satisfies Record<string, Record<Language, () => Promise<{ default: object }>>>

type Later = keyof typeof LATER
const wanted = new Set<Later>()

function preferred(): Language {
  const kept = localStorage.getItem(KEPT_AS)
  if (kept === 'en' || kept === 'zh') return kept
  const known = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())
  return known.find((tag) => tag === 'en' || tag === 'zh') === 'zh' ? 'zh' : 'en'
}

async function load(language: Language): Promise<void> {
  if (!i18next.hasResourceBundle(language, 'translation'))
    i18next.addResourceBundle(language, 'translation', (await BUNDLES[language]()).default)
  for (const name of wanted)
    if (!i18next.exists(name, { lng: language }))
      i18next.addResourceBundle(
        language,
        'translation',
        { [name]: (await LATER[name][language]()).default },
        true,
      )
}

/** Before a page is drawn that needs them. */
export async function loadWords(name: Later): Promise<void> {
  wanted.add(name)
  await load(i18next.language as Language)
}

/** Where this fails, an error or a warning shows the server's words; the next change of language tries again. */
async function loadSentences(language: Language): Promise<void> {
  for (const [name, files] of Object.entries({ errors: ERRORS, warnings: WARNINGS, mistakes: MISTAKES })) {
    if (i18next.hasResourceBundle(language, name)) continue
    const found = await files[language]().catch(() => null)
    if (found) i18next.addResourceBundle(language, name, found.default)
  }
}

async function use(language: Language): Promise<void> {
  await load(language)
  await i18next.changeLanguage(language)
  void loadSentences(language)
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
