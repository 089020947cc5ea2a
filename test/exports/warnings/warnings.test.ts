import { readdirSync, readFileSync } from 'node:fs'
import { createInstance, type i18n } from 'i18next'
import { beforeAll, describe, expect, test } from 'vitest'
import { warningsOf } from '../../../console/src/api/export-texts.ts'
import { warningText } from '../../../console/src/pages/exports/warning-text.ts'
import { warningDetails, warningWords } from '../../../src/exports/report/index.ts'
import {
  ofTable,
  WARNINGS,
  type Warning,
  type WarningCode,
  warn,
} from '../../../src/exports/warnings/index.ts'
import { SAMPLES } from './warning-samples.ts'

const CODES = Object.keys(SAMPLES) as WarningCode[]
const LANGUAGES = ['en', 'zh'] as const
type Words = Record<string, string | Record<string, string>>

function wordsIn(language: 'en' | 'zh', file: string): Words {
  const path = new URL(`../../../console/src/i18n/${language}/${file}`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')) as Words
}

function sampleOf(code: WarningCode, more: { count?: number } = {}): Warning {
  const values = SAMPLES[code][0]
  return warn(code, { ...values, ...('count' in values && more) } as never)
}

/** As a page of that language shows it. */
const pages = {} as Record<'en' | 'zh', i18n>
function shownIn(language: 'en' | 'zh', warning: Parameters<typeof warningText>[1]): string {
  return warningText(pages[language], warning, (value) => new Intl.NumberFormat(language).format(value))
}

beforeAll(async () => {
  for (const lng of LANGUAGES) {
    pages[lng] = createInstance()
    const resources = { [lng]: { warnings: wordsIn(lng, 'warnings.json') } }
    await pages[lng].init({ lng, resources, fallbackLng: false, interpolation: { escapeValue: false } })
  }
})

test('every kind of warning has its sentence in the console, and no sentence is without its kind', () => {
  expect(CODES.sort()).toEqual(Object.keys(WARNINGS).sort())
  for (const language of LANGUAGES) {
    const codes = Object.keys(wordsIn(language, 'warnings.json')).filter((name) => /^[A-Z]/.test(name))
    expect([...new Set(codes.map((name) => name.replace(/_(one|other)$/, '')))].sort()).toEqual(CODES)
  }
})

test('every kind is warned of somewhere', () => {
  const folder = new URL('../../../src/exports/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const code = files
    .filter((name) => name.endsWith('.ts') && !name.startsWith('warnings/'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n')
  expect(CODES.filter((name) => !code.includes(`'${name}'`))).toEqual([])
})

describe.each(CODES)('%s', (code) => {
  const [values, message] = SAMPLES[code]

  test('has the English sentence that the API has always had', () => {
    expect(sampleOf(code)).toEqual({ code, table: null, values, message })
  })

  test.each([1, 2_000])('is said in full in both languages, of %i', (count) => {
    const warning = sampleOf(code, { count })
    for (const language of LANGUAGES) {
      const text = shownIn(language, warning)
      expect(text).not.toMatch(/[{}]{2}|undefined|\[object/)
      expect(text).not.toBe(code)
      expect(/\p{Script=Han}/u.test(text.replace('字', ''))).toBe(language === 'zh')
    }
  })

  test('has no placeholder without a value', () => {
    const known = ['shown', ...Object.keys(values)]
    for (const language of LANGUAGES)
      for (const [name, text] of Object.entries(wordsIn(language, 'warnings.json')))
        if (name.replace(/_(one|other)$/, '') === code)
          for (const [, slot] of String(text).matchAll(/{{(\w+)}}/g)) expect(known).toContain(slot)
  })

  test('is said in mails and chats as the console says it in Chinese', () => {
    for (const warning of [sampleOf(code), ofTable(sampleOf(code), '三月')])
      expect(warningWords(warning)).toEqual({ en: warning.message, zh: shownIn('zh', warning) })
  })
})

test('the console and the messages name types and totals as the form for columns does', () => {
  for (const language of LANGUAGES) {
    const { type, total } = wordsIn(language, 'warnings.json') as Record<string, Record<string, string>>
    const { types, totals } = (wordsIn(language, 'make.json').builder ?? {}) as never as Record<
      string,
      Record<string, string>
    >
    const small = (words: Record<string, string> = {}) =>
      Object.fromEntries(Object.entries(words).map(([name, word]) => [name, word.toLowerCase()]))
    expect(type).toEqual(small(types))
    expect(small(totals)).toMatchObject(total ?? {})
    for (const name of Object.keys(type ?? {})) {
      const warning = warn('VALUES_OF_OTHER_TYPE', { column: 'x', count: 1, type: name })
      if (language === 'zh') expect(warningWords(warning).zh).toBe(shownIn('zh', warning))
    }
  }
})

test('a warning about one of several tables has the name of the table', () => {
  const warning = ofTable(warn('TEMPLATE_OVERRULED', {}), 'March')
  expect(warning).toMatchObject({ table: 'March', message: expect.stringMatching(/^March: the source sent/) })
  expect(shownIn('en', warning)).toMatch(/^March: The source sent/)
  expect(shownIn('zh', warning)).toMatch(/^March：数据源/)
})

test('what an earlier version kept, or a newer one says, is shown as it is', () => {
  const [old] = warningDetails(['the total changed'])
  expect(old).toEqual({ code: null, table: null, values: {}, message: 'the total changed' })
  expect(warningsOf({ warnings: ['the total changed'] })).toEqual([old])
  const newer = { code: 'OF_TOMORROW', table: null, values: { count: 3 }, message: '3 things' }
  for (const language of LANGUAGES) {
    expect(shownIn(language, old!)).toBe('the total changed')
    expect(shownIn(language, newer)).toBe('3 things')
  }
  expect(warningWords(old!)).toEqual({ en: 'the total changed', zh: 'the total changed' })
  expect(warningWords(newer)).toEqual({ en: '3 things', zh: '3 things' })
})

test('a value cannot be taken for a placeholder or another sentence', () => {
  const warning = warn('COLUMN_EMPTY', { column: '{{meant}} $t(CALLBACK_GIVEN_UP)' })
  for (const language of LANGUAGES)
    expect(shownIn(language, warning)).toContain('{{meant}} $t(CALLBACK_GIVEN_UP)')
})

test('the title tells columns of the same key apart, in both languages', () => {
  const values = { column: 'amount', title: 'Money', count: 1, type: 'integer' }
  const warning = warn('VALUES_OF_OTHER_TYPE', values)
  expect(warning.message).toBe('column "amount (Money)": 1 value is not of the type integer')
  for (const language of LANGUAGES) expect(shownIn(language, warning)).toContain('amount (Money)')
  expect(warningWords(warning).zh).toBe(shownIn('zh', warning))
})
