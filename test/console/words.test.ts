import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FINDING_KINDS } from '../../src/app/doctor/finding.ts'
import { ERRORS } from '../../src/kernel/index.ts'

type Words = { [name: string]: string | Words }

const FOLDER = new URL('../../console/src/i18n/', import.meta.url)
const files = readdirSync(new URL('en/', FOLDER)).filter((name) => name.endsWith('.json'))

function read(language: 'en' | 'zh', file: string): Words {
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
