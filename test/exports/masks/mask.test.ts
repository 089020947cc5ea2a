import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Mask } from '../../../src/exports/index.ts'
import { maskValue } from '../../../src/exports/sheet/index.ts'
import { RowTranscoder, SegmentBuffer } from '../../../src/exports/sources/rows/index.ts'
import {
  maskingOf,
  parseTemplate,
  projectMaskKey,
  templateFromKeys,
} from '../../../src/exports/template/index.ts'
import { pageBytes } from '../sources/spool/transcode-page.ts'

test.each<[Mask, unknown, string | null]>([
  ['phone', '13800138000', '138****8000'],
  ['phone', 13800138000, '138****8000'],
  ['phone', '+86 138-0013-8000', '+86 1**-****-8000'],
  ['phone', '12345', '***'],
  ['phone', 'call Bob', '***'],
  ['email', 'anna.novak@example.com', 'a***@example.com'],
  ['email', 'no address', '***'],
  ['id_card', '110101199003071234', '110***********1234'],
  ['id_card', '1234', '***'],
  ['bank_card', '6222 0212 3456 7890', '6222 **** **** 7890'],
  ['bank_card', '6222021234567890123', '6222***********0123'],
  ['name', '张三丰', '张**'],
  ['name', 'Anna Novak', 'A*** N****'],
  ['name', '李', '*'],
  ['last4', 'W0000001234', '***1234'],
  ['last4', '1234', '***'],
  ['fixed', 'anything', '***'],
  ['fixed', null, null],
  ['fixed', '', ''],
  ['phone', { home: '13800138000' }, '***'],
  ['name', ['Anna'], '***'],
  ['last4', true, '***'],
])('%s shows %j as %s', (mask, value, shown) => {
  expect(maskValue(value, mask, 'key')).toBe(shown)
})

const FAMILY = '👨‍👩‍👧‍👦'
const COUPLE = '👩🏽‍❤️‍💋‍👨🏿'

test.each<[Mask, string, string]>([
  ['name', `${FAMILY}Novak`, `${FAMILY}*****`],
  ['name', FAMILY, '*'],
  ['name', `${COUPLE} ${FAMILY}x`, `* ${FAMILY}*`],
  ['name', 'e\u0301milie Zo\u0308e', 'e\u0301***** Z**'],
  ['name', '🇩🇪🇫🇷', '🇩🇪*'],
  ['name', 'กี้สมชาย', 'กี้*****'],
  ['name', 'नीतू', 'नी*'],
  ['name', 'a\r\nbc', '*\r\nb*'],
  ['email', 'e\u0301milie@example.com', 'e\u0301***@example.com'],
  ['email', `${FAMILY}.novak@example.com`, `${FAMILY}***@example.com`],
  ['email', '@example.com', '***'],
  ['email', 'anna@\u0301example.com', '***'],
  ['last4', `W000${FAMILY}234`, `***${FAMILY}234`],
  ['last4', `${FAMILY}234`, '***'],
  ['last4', 'abcde\u0301', '***bcde\u0301'],
  ['id_card', `${FAMILY}2345678901234`, `${FAMILY}23*******1234`],
  ['id_card', 'e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301', '***'],
  ['phone', '1\u20e33800138000', '***'],
  ['bank_card', '6222 0212 3456 789\u0301', '***'],
])('%s shows what a reader sees as one character whole or not at all: %j as %s', (mask, value, shown) => {
  expect(maskValue(value, mask, 'key')).toBe(shown)
})

test.each<[Mask, string]>([
  ['name', 'Anna'],
  ['email', 'anna@example.com'],
  ['last4', '1234567'],
  ['id_card', '110101199003071234'],
])('%s shows no character under which a text is hidden', (mask, value) => {
  // Tags draw nothing, and belong to the character before them.
  const tags = [...'13800138000']
    .map((digit) => String.fromCodePoint(0xe0000 + digit.codePointAt(0)!))
    .join('')
  const marked = [...value].map((character) => `${character}${tags}`).join('')
  expect(maskValue(marked, mask, 'key')).not.toMatch(/\p{Cf}/u)
})

const SEGMENTS = new Intl.Segmenter('und', { granularity: 'grapheme' })
const clustersOf = (text: string) => Array.from(SEGMENTS.segment(text), ({ segment }) => segment)
/** The most characters that a mask leaves, of a text that has no blanks. */
const PROMISED: [Mask, number][] = [
  ['phone', 7],
  ['id_card', 7],
  ['bank_card', 8],
  ['name', 1],
  ['last4', 4],
  ['fixed', 0],
]

test('no mask shows more than it promises, nor a part of a character', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      FAMILY,
      COUPLE,
      '🇩🇪',
      '🇨',
      'e\u0301',
      '\u0301',
      '\u200d',
      'กี้',
      'क्ष',
      '각',
      '1\ufe0f\u20e3',
      '🏿',
      '\r\n',
      'a',
    ),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }),
    fc.constantFrom(...'0123456789+-(). '),
  )
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, (value) => {
      const whole = new Set(clustersOf(value))
      for (const [mask, most] of PROMISED) {
        const bare = value.replace(/[\s*]/gu, '')
        const kept = clustersOf(maskValue(bare, mask, 'key')!.replaceAll('*', '\n')).filter(
          (one) => one !== '\n',
        )
        const shown = mask === 'phone' || mask === 'bank_card' ? kept.filter((one) => /\d/.test(one)) : kept
        expect(shown.length, `${mask} of ${JSON.stringify(bare)}`).toBeLessThanOrEqual(most)
        const own = new Set(clustersOf(bare))
        expect(
          kept.filter((one) => !own.has(one)),
          `${mask} of ${JSON.stringify(bare)}`,
        ).toEqual([])
      }
      for (const mask of ['name', 'last4', 'id_card', 'email'] as const) {
        const shown = maskValue(value, mask, 'key')!
        expect(shown.isWellFormed()).toBe(true)
        const kept = clustersOf(shown.replaceAll('*', '\n')).filter((one) => one !== '\n')
        if (!value.includes('*'))
          expect(
            kept.filter((one) => !whole.has(one)),
            `${mask} of ${JSON.stringify(value)}`,
          ).toEqual([])
      }
    }),
    { numRuns: 300 },
  )
})

test('a masked address shows one character and the domain', () => {
  const word = fc.array(fc.constantFrom(FAMILY, 'e\u0301', 'a', '9', '.', '+', '@', '\u0301', '🇩🇪'), {
    minLength: 1,
    maxLength: 9,
  })
  fc.assert(
    fc.property(word, word, (name, domain) => {
      const value = `${name.join('')}@${domain.join('')}`
      const shown = maskValue(value, 'email', 'key')!
      if (shown === '***') return
      const at = value.lastIndexOf('@')
      expect(shown).toBe(`${clustersOf(value)[0]}***${value.slice(at)}`)
    }),
  )
})

test('a hash is the same for the same value and project, and tells nothing without its key', () => {
  const [one, other] = [projectMaskKey('secret', 'p1'), projectMaskKey('secret', 'p2')]
  expect(maskValue('13800138000', 'hash', one)).toMatch(/^[0-9a-f]{32}$/)
  expect(maskValue(13800138000, 'hash', one)).toBe(maskValue('13800138000', 'hash', one))
  expect(maskValue('13800138000', 'hash', other)).not.toBe(maskValue('13800138000', 'hash', one))
})

test('what a project demands wins over the template, and applies without one', () => {
  const rules = { demanded: { phone: 'fixed' as const }, key: null }
  const template = parseTemplate([
    { name: 'phone', mask: 'last4' },
    { name: 'mail', mask: 'email' },
  ])!
  expect(maskingOf(template, rules)?.byName).toEqual({ phone: 'fixed', mail: 'email' })
  expect(maskingOf(templateFromKeys(['a']), rules)?.byName).toEqual({ phone: 'fixed' })
  expect(maskingOf(templateFromKeys(['a']), { demanded: {}, key: null })).toBeNull()
  expect(() => parseTemplate([{ name: 'a', mask: 'phon' }])).toThrow('template[0].mask')
  const hashed = parseTemplate([{ name: 'a', mask: 'hash' }])!
  expect(() => maskingOf(hashed, { demanded: {}, key: null })).toThrow('needs a key')
  const twice = parseTemplate([
    { name: 'a', mask: 'hash' },
    { name: 'a', mask: 'name' },
  ])!
  expect(() => maskingOf(twice, rules)).toThrow('different masks')
})

test('a demand for an item of a list holds for every place of the list', () => {
  const names = ['phones.0', 'phones.-1', 'phones.-1.number', 'phones', 'phone']
  const template = parseTemplate(names.map((name) => ({ name })))!
  const rules = { demanded: { 'phones.0.number': 'phone' as const }, key: null }
  expect(maskingOf(template, rules)?.byName).toEqual({
    'phones.0.number': 'phone',
    'phones.0': 'fixed',
    'phones.-1': 'fixed',
    'phones.-1.number': 'phone',
    phones: 'fixed',
  })
})

test.each([true, false])(
  'the spool never holds the clear value, in whatever shape rows come (csv: %s)',
  (csv) => {
    const secret = 'SECRET-0123456789'
    const rows = Array.from({ length: 50 }, (_, n) => {
      const row = {
        id: n,
        phone: `${secret}${n}`,
        more: { phone: secret },
        mail: `=${secret}@x.org`,
        late: secret,
      }
      if (n % 3 === 0) return row
      const { late, ...short } = row
      return n % 3 === 1 ? short : Object.fromEntries(Object.entries(short).toReversed())
    })
    const masks = {
      byName: { phone: 'fixed', more: 'name', mail: 'email', late: 'hash' } as Record<string, Mask>,
      key: 'k',
    }
    const sink = new SegmentBuffer()
    // The last column is met in the rows only.
    const options = { fields: ['id', 'phone', 'more', 'mail'], growExcept: [], masks, csv }
    const transcoder = new RowTranscoder(options, [sink])
    const page = pageBytes(JSON.stringify([...rows.slice(1), rows[0]]))
    transcoder.startPage(Number.POSITIVE_INFINITY)
    transcoder.rows(page, 0, page.length, 0)
    const text = sink.pending().bytes.toString()
    expect(transcoder.fields).toContain('late')
    expect(text).not.toContain('0123456789')
    expect(text).not.toContain('SECRET-')
    expect(text.split('\n')[0]).toBe(`1,"***","***","${csv ? "'" : ''}=***@x.org"${csv ? '\r' : ''}`)
    expect(sink.rows).toBe(50)
    expect(Math.max(...transcoder.widths)).toBeLessThan(33)
  },
)
