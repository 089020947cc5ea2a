import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fileNameFor } from '../../src/exports/request/index.ts'

const NOW = Date.UTC(2026, 3, 8, 15, 30, 12, 345)

function name(requested: string | null | undefined, extension = 'xlsx'): string {
  return fileNameFor(requested, { extension, now: NOW, random: () => 10 })
}

test('a good name stays as it is, and gets the extension that fits', () => {
  expect(name('对账单 2026-04')).toBe('对账单 2026-04.xlsx')
  expect(name('report.xlsx')).toBe('report.xlsx')
  expect(name('report.CSV')).toBe('report.xlsx')
  expect(name('report.xlsx', 'csv')).toBe('report.csv')
  expect(name('report.csv.gz', 'jsonl')).toBe('report.jsonl')
  expect(name('report.parquet', 'jsonl.zst')).toBe('report.jsonl.zst')
  expect(name('v1.2 final')).toBe('v1.2 final.xlsx')
})

test('no name, or one of which nothing remains, is made up from date and chance', () => {
  for (const empty of [undefined, null, '', '  ', '...', '../..', '\u0000', '.csv']) {
    expect(name(empty)).toBe('20260408-153012-kkkkkk.xlsx')
  }
  expect(fileNameFor(null, { extension: 'csv', now: NOW })).toMatch(/^20260408-153012-[a-z0-9]{6}\.csv$/)
})

test('steps through folders vanish, and a slash in a title becomes an underscore', () => {
  expect(name('../../etc/passwd')).toBe('etc_passwd.xlsx')
  expect(name('C:\\temp\\a')).toBe('C__temp_a.xlsx')
  expect(name('收入/支出')).toBe('收入_支出.xlsx')
})

test('what a file system or an eye trips over is taken out', () => {
  expect(name('a\r\nb\tc\u0007')).toBe('abc.xlsx')
  expect(name('a<b>:"|?*c')).toBe('a_b______c.xlsx')
  expect(name('gpj.\u202exslx')).toBe('gpj.xslx.xlsx')
  expect(name(' .hidden. ')).toBe('hidden.xlsx')
  expect(name('half \ud800 pair')).toBe('half  pair.xlsx')
})

test('the devices of Windows are not hit', () => {
  for (const device of ['CON', 'nul', 'com1', 'LPT9', 'aux.csv', 'prn.old', 'CONIN$']) {
    expect(name(device)).toMatch(/^_/)
  }
  expect(name('console')).toBe('console.xlsx')
})

test('a long name is cut between characters', () => {
  expect(name('汉'.repeat(300))).toBe(`${'汉'.repeat(65)}.xlsx`)
  expect(name('👩‍👩‍👧'.repeat(50))).not.toContain('\ufffd')
})

test('any text becomes a name that is safe, short, and stays the same when asked for again', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({
      unit: fc.constantFrom('.', '/', '\\', ' ', 'a', 'con', '\u0000', '汉', '.csv', '\u202e'),
      maxLength: 90,
    }),
  )
  fc.assert(
    fc.property(text, (requested) => {
      const made = name(requested)
      expect(made).not.toMatch(/[/\\<>:"|?*\p{Cc}]/u)
      expect(made).toMatch(/^[^\s.].*\.xlsx$/su)
      expect(made).not.toMatch(/[\s.]\.xlsx$/)
      expect(Buffer.byteLength(made)).toBeLessThanOrEqual(200)
      expect(made.isWellFormed()).toBe(true)
      expect(name(made)).toBe(made)
    }),
    { numRuns: 1_000 },
  )
})
