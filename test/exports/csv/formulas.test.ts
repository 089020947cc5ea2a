import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_DIALECT, layOutCsv } from '../../../src/exports/csv/index.ts'
import { isFormula } from '../../../src/exports/sheet/index.ts'
import { templateFromKeys } from '../../../src/exports/template/index.ts'
import { transcodeToCsv } from '../sources/spool/transcode-page.ts'

/** As a title, and as a value, whose bytes another function looks at. */
function written(texts: string[]): { title: string; values: string } {
  const csv = (title: string, rows: unknown[]) => {
    const dialect = { ...DEFAULT_DIALECT, bom: false }
    const { spool } = layOutCsv(templateFromKeys([title]), { dialect, timezone: 'UTC' })
    return transcodeToCsv(spool, JSON.stringify(rows))
  }
  const values = csv(
    'a',
    texts.map((a) => ({ a })),
  )
  return { title: csv(texts[0]!, []), values }
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"\r\n`

/**
 * Against https://owasp.org/www-community/attacks/CSV_Injection, which names `=` `+` `-` `@`, tab, CR, LF and the full-width signs as first
 * characters. Beyond these: what programs drop or hide before the sign (LibreOffice drops NUL). Less than these: signed texts that nothing
 * could call, because an apostrophe would break numbers and phone numbers.
 */
const GUARDED: [why: string, ...texts: string[]][] = [
  ['a formula', '=1+1', '=', "=cmd|' /C calc'!A0", '=HYPERLINK("http://x","y")'],
  ['the signs of old spreadsheets', '+A1', '-A1', '@SUM(A1)', '@', '+1-1', '-2+3', '-E5', '+cmd|x!A0'],
  ['the first characters of OWASP, whatever follows', '\tx', '\rx', '\nx', '\t', '\r\n', '\n-5'],
  ['full-width signs, which East Asian editions read as plain ones', '＝1', '＋1', '－1', '＠x'],
  ['small and typographic signs', '﹦1', '﹢1', '﹣1', '﹫x', '−1'],
  [
    'NUL, which LibreOffice drops',
    '\0=1',
    '\0\0=1',
    '\0+A1',
    '\0-A1',
    '\0@x',
    '\0＝1',
    '\0\tx',
    ' \0=1',
    '\0 =1',
  ],
  ['other control characters', '\x01=1', '\x08@x', '\x1b-A1', '\x1f=1', '\x7f=1', '\x85=1', '\x9f+A1'],
  ['blanks', ' =1', '  @x', '\u00a0=1', '\u3000=1', '\u2028=1', '\v=1', '\f=1', ' \t=1'],
  ['a byte order mark', '\ufeff=1', '\ufeff\ufeff@x'],
  [
    'what nobody sees',
    '\u200b=1',
    '\u2060=1',
    '\u00ad=1',
    '\u202e=1',
    '\u180e=1',
    '\u034f=1',
    '\ufe0f=1',
    '\u115f=1',
    '\u3164=1',
    '\uffa0=1',
    '\u{e0001}=1',
    '\u{e0100}=1',
    '\u{1d173}=1',
  ],
]

const LEFT: [why: string, ...texts: string[]][] = [
  ['nothing', ''],
  [
    'a sign that is not the first to be seen',
    'x=1',
    '1+1',
    'a@b.org',
    '"=1"',
    "'=1",
    '(=1)',
    '\0x=1',
    ' x=1',
  ],
  [
    'NUL and other control characters without a sign',
    '\0',
    '\0\0',
    '\0x',
    '\x01',
    '\x01x',
    '\x1f',
    '\x7f',
    '\x85x',
  ],
  [
    'blanks and unseen characters without a sign',
    ' ',
    ' x',
    '\ufeff',
    '\ufeffx',
    '\u200bx',
    '\u3000',
    '\ufe0f',
  ],
  ['numbers', '-12.50', '+1', '-1,234.5', '-1.5e-7', '-5%', '-', '---', '\0-5', ' -5', '\ufeff+1'],
  ['phone numbers, also masked', '+8613800138000', '+86 138-0013-8000', '+49 (30) 1', '+86 138****8000'],
  ['times, sums of money and infinity', '-12:30:00', '-$3.00', '-￥3', '+3,50 €', '-Infinity'],
  [
    'signs that no spreadsheet takes for a formula',
    '|x',
    '%1',
    '/x',
    '!A1',
    '#REF!',
    '≠1',
    '±1',
    '＃',
    '👍=1',
    '𝟏=1',
  ],
]

test.each(GUARDED)('an apostrophe is put before %s', (_, ...texts) => {
  for (const text of texts) {
    expect(isFormula(text), JSON.stringify(text)).toBe(true)
    expect(written([text]).title, JSON.stringify(text)).toBe(quoted(`'${text}`))
  }
  expect(written(texts).values).toBe(`"a"\r\n${texts.map((text) => quoted(`'${text}`)).join('')}`)
})

test.each(LEFT)('no apostrophe is put before %s', (_, ...texts) => {
  for (const text of texts) {
    expect(isFormula(text), JSON.stringify(text)).toBe(false)
    if (text !== '') expect(written([text]).title, JSON.stringify(text)).toBe(quoted(text))
  }
  expect(written(texts).values).toBe(`"a"\r\n${texts.map(quoted).join('')}`)
})

test('values are judged by their bytes as titles are by their characters', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...'=+-@＝－−\0\t\r\n \v\x01\x7f\u0085\ufeff\u200b\ufe0f\u{e0100}\u{1d173}05.%()$€:*eEx"\'',
    ),
    fc.string({ unit: 'binary', maxLength: 1 }),
  )
  const text = fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(fc.array(text, { minLength: 20, maxLength: 40 }), (texts) => {
      const expected = texts.map((one) => quoted(isFormula(one) ? `'${one}` : one))
      expect(written(texts).values).toBe(`"a"\r\n${expected.join('')}`)
    }),
    { numRuns: 100 },
  )
})
