import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readConsole } from '../../scripts/console-imports.ts'
import { FINDING_KINDS } from '../../src/app/doctor/finding.ts'
import { AUDIT_ACTIONS, AUDIT_FIELDS } from '../../src/http/auth/audit-trail.ts'
import errorsEn from '../../src/kernel/error-words/en.json' with { type: 'json' }
import errorsZh from '../../src/kernel/error-words/zh.json' with { type: 'json' }
import { ERRORS } from '../../src/kernel/index.ts'

type Words = { [name: string]: string | Words }

const CONSOLE = fileURLToPath(new URL('../../console/src/', import.meta.url))
/** These decide by a code, and show none. */
const KNOWS_CODES = ['items.push({ error: { code: error.code } })', 'title={t(']

/** The right column of the table of words in docs/console.md, as far as a pattern finds it. */
const NOT_SAID: [RegExp, string][] = [
  [/\bledger\b|账本/i, 'database, 数据库'],
  [/\bFor whom\b/, 'Operator'],
  [/\bTook\b(?! longer)/, 'Duration'],
  [/^Try again$|再试一次/, 'Retry, 重试'],
  [/\bRuns at once\b|同时运行数/, 'Concurrent runs, 最大并发'],
  [/先到先得|终止|请求时间|动作/, 'see docs/console.md'],
]

const FOLDER = new URL('../../console/src/i18n/', import.meta.url)
const ERROR_WORDS = { en: errorsEn, zh: errorsZh }
const files = [...readdirSync(new URL('en/', FOLDER)).filter((name) => name.endsWith('.json')), 'errors.json']

function read(language: 'en' | 'zh', file: string): Words {
  if (file === 'errors.json') return ERROR_WORDS[language]
  return JSON.parse(readFileSync(new URL(`${language}/${file}`, FOLDER), 'utf8')) as Words
}

/** Keys with the values that are put into them; a language has as many forms of a number as it needs. */
function keysOf(words: Words, above = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of Object.entries(words)) {
    const key = `${above}${name.replace(/_(one|other)$/, '')}`
    if (typeof value !== 'string') for (const entry of keysOf(value, `${key}.`)) found.set(...entry)
    else
      found.set(
        key,
        [...value.matchAll(/{{(\w+)}}/g)]
          .map(([, slot]) => slot)
          .sort()
          .join(),
      )
  }
  return found
}

function texts(words: Words): string[] {
  return Object.values(words).flatMap((value) => (typeof value === 'string' ? [value] : texts(value)))
}

describe('the words of the console', () => {
  test('both languages have the same files', () => {
    expect(readdirSync(new URL('zh/', FOLDER))).toEqual(readdirSync(new URL('en/', FOLDER)))
  })

  test.each(files)('%s says the same things, with the same values, in both languages', (file) => {
    const sorted = (language: 'en' | 'zh') => Object.fromEntries([...keysOf(read(language, file))].sort())
    expect(sorted('zh')).toEqual(sorted('en'))
  })

  test('every code of the server has its sentence, and no sentence is without its code', () => {
    for (const language of ['en', 'zh'] as const)
      expect(Object.keys(read(language, 'errors.json')).sort()).toEqual(Object.keys(ERRORS).sort())
  })

  // The same code is shown while it is tried again and after the end: what happens next is said beside it, by who knows.
  test('the sentence of a code promises nothing about what happens next', () => {
    for (const language of ['en', 'zh'] as const)
      for (const [code, text] of Object.entries(read(language, 'errors.json')))
        expect(text, code).not.toMatch(
          /by itself|is (?:tried|sent|asked)\b|continues|after several|自动|会继续|多次尝试/,
        )
  })

  test('every deed of the audit log, and every field that it shows, has its words', () => {
    for (const language of ['en', 'zh'] as const) {
      const { deed, field } = read(language, 'admin.json').audit as { deed: Words; field: Words }
      expect(Object.keys(deed).sort()).toEqual(AUDIT_ACTIONS.map((name) => name.replace('.', '_')).sort())
      expect(Object.keys(field)).toEqual(expect.arrayContaining([...AUDIT_FIELDS]))
    }
  })

  test('no page shows the code or the message of an error by other means than the sentence for it', () => {
    const told =
      /\b(?:error|failing|failure|trouble|problem|waiting_for|away|why)\)?[?!]?\.(?:message|code)\b(?! ?===)|\b(?:error|failing): \{ (?:code|message)[,} ]/
    const shown = [...readConsole(CONSOLE)]
      .filter(([path]) => path.endsWith('.tsx'))
      .flatMap(([path, text]) => text.split('\n').map((line) => `${path}: ${line.trim()}`))
      .filter((line) => told.test(line) && !KNOWS_CODES.some((known) => line.includes(known)))
    expect(shown).toEqual([])
  })

  test.each(NOT_SAID)('%s is said in no sentence: %s', (word, instead) => {
    const said = files.flatMap((file) =>
      (['en', 'zh'] as const).flatMap((language) =>
        texts(read(language, file)).filter((text) => word.test(text)),
      ),
    )
    expect(said, instead).toEqual([])
  })

  test('everything that the doctor can find has its sentence', () => {
    for (const language of ['en', 'zh'] as const)
      expect(Object.keys(read(language, 'overview.json').finding as Words).sort()).toEqual(
        [...FINDING_KINDS].sort(),
      )
  })

  test.each(files)('nothing in %s is empty', (file) => {
    for (const language of ['en', 'zh'] as const) expect(texts(read(language, file))).not.toContain('')
  })
})
