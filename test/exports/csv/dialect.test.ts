import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RecordRenderer } from '../../../src/exports/csv/csv-work.ts'
import { dateText, showsDate } from '../../../src/exports/csv/date-text.ts'
import { type CsvWishes, layOutCsv, readDialect } from '../../../src/exports/csv/index.ts'
import { encodeText } from '../../../src/exports/csv/text-encoder.ts'
import { excelSerialMillis, shownText } from '../../../src/exports/sheet/index.ts'
import { parseTemplate, type Template, templateFromKeys } from '../../../src/exports/template/index.ts'
import { temporaryFolder } from '../../support/wharf-process.ts'
import { transcode } from '../sources/spool/transcode-page.ts'

/** A file in a dialect, through typed records. */
function file(template: Template, wishes: CsvWishes, rows: unknown[], timezone = 'UTC'): string {
  const layout = layOutCsv(template, { dialect: readDialect({ bom: false, ...wishes }), timezone })
  const { recipe, spool, head } = layout
  const records = transcode(spool.fields as string[], JSON.stringify(rows))
  return head + new RecordRenderer(recipe!).render(records, [])
}

describe('a dialect', () => {
  const template = templateFromKeys(['a', 'b'])
  const rows = [
    { a: 'x;y', b: -1.5 },
    { a: 'say "no"', b: null },
    { a: '', b: true },
    { a: '=1', b: 'two\nlines' },
  ]

  test('has its own delimiter, line end and decimal sign', () => {
    expect(file(template, { delimiter: ';', line_end: 'lf', decimal: ',' }, rows)).toBe(
      '"a";"b"\n"x;y";-1,5\n"say ""no""";\n"";true\n"\'=1";"two\nlines"\n',
    )
  })

  test('quotes what must be, or everything', () => {
    expect(file(template, { delimiter: ';', quote: 'minimal' }, rows)).toBe(
      'a;b\r\n"x;y";-1.5\r\n"say ""no""";\r\n;true\r\n\'=1;"two\nlines"\r\n',
    )
    expect(file(template, { quote: 'all', formulas: 'keep' }, rows)).toBe(
      '"a","b"\r\n"x;y","-1.5"\r\n"say ""no""",""\r\n"","true"\r\n"=1","two\nlines"\r\n',
    )
  })

  test('shows texts of numeric columns with its decimal sign, and no others', () => {
    const typed = parseTemplate([{ name: 'a', type: 'money' }, { name: 'b' }])!
    const texts = [
      { a: '12.50', b: '12.50' },
      { a: '1.2.3', b: 1.25 },
    ]
    expect(file(typed, { delimiter: '\t', decimal: ',' }, texts)).toBe(
      '"a"\t"b"\r\n"12,50"\t"12.50"\r\n"1.2.3"\t1,25\r\n',
    )
  })

  test('shows dates by their format, on the clock of the zone; what is no date stays', () => {
    const typed = parseTemplate([
      { name: 'a', type: 'datetime' },
      { name: 'b', type: 'date', format: 'd.m.yy' },
    ])!
    const dates = [
      { a: '2026-02-28T20:30:00Z', b: '2026-03-01' },
      { a: 'soon', b: null },
      { a: 1772238615, b: '2026/02/28' },
    ]
    expect(file(typed, {}, dates, 'Asia/Shanghai')).toBe(
      '"a","b"\r\n"2026-03-01 04:30:00","1.3.26"\r\n"soon",\r\n"2026-02-28 08:30:15","28.2.26"\r\n',
    )
  })

  test('is refused if it could not be read back', () => {
    const read = (wishes: CsvWishes, bom?: boolean) => () => readDialect(wishes, bom)
    expect(read({ delimiter: '"' })).toThrow('csv.delimiter must be one sign')
    for (const delimiter of "e=+-@'\r\n") expect(read({ delimiter })).toThrow('csv.delimiter')
    expect(read({ decimal: ',' })).toThrow('csv.decimal is also the delimiter')
    expect(read({ encoding: 'gb18030' }, true)).toThrow('csv.bom needs the encoding')
    expect(readDialect({ encoding: 'gb18030' })).toMatchObject({ bom: false })
    expect(readDialect({ encoding: 'utf-16le' })).toMatchObject({ bom: true })
    expect(readDialect({ bom: true }, false)).toMatchObject({ bom: true })
    expect(readDialect({}, false)).toMatchObject({ bom: false })
  })
})

test.each([
  ['yyyy-mm-dd hh:mm:ss', '2026-02-03 16:05:09'],
  ['d/m/yy h:mm AM/PM', '3/2/26 4:05 PM'],
  ['dddd, mmmm d, yyyy', 'Tuesday, February 3, 2026'],
  ['ddd mmm mmmmm', 'Tue Feb F'],
  ['mm:ss.000', '05:09.250'],
  ['yyyy"年"m"月"d"日"', '2026年2月3日'],
  ['[$-409]dd\\-mm;@', '03-02'],
])('the date format %s shows %s', (format, expected) => {
  expect(dateText(format)(Date.UTC(2026, 1, 3, 16, 5, 9, 250))).toBe(expected)
  expect(showsDate(format)).toBe(true)
})

test('a format of numbers shows no date', () => {
  expect(['0.00', '@', '#,##0', '"day"'].map(showsDate)).toEqual([false, false, false, false])
})

describe('an encoding', () => {
  test('reads back in another program, every character of it', () => {
    const folder = temporaryFolder()
    const chars = [...Array(0xffff).keys(), 0x1f600, 0x20000, 0x10ffff]
      .filter((point) => point < 0xd800 || point >= 0xf900)
      .map((point) => String.fromCodePoint(point))
    const text = chars.join('')
    for (const encoding of ['gb18030', 'utf-16le'] as const) {
      const { bytes, lost } = encodeText(text, encoding)
      expect(lost).toBe(0)
      expect(new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes) === text).toBe(true)
      writeFileSync(join(folder, encoding), bytes)
    }
    // Python keeps to the edition of 2000; the few characters that were moved since are left out.
    const script = `import sys; print(sum(a != b for a, b in zip(open(sys.argv[1] + '/gb18030', 'rb').read().decode('gb18030'), open(sys.argv[1] + '/utf-16le', 'rb').read().decode('utf-16le'))))`
    expect(Number(execFileSync('python3', ['-c', script, folder]).toString())).toBeLessThan(40)
  })

  test('counts what it lacks', () => {
    expect(encodeText('€é', 'windows-1252')).toMatchObject({ bytes: Uint8Array.of(0x80, 0xe9), lost: 0 })
    const { bytes, lost, firstLost } = encodeText('a中b😀', 'windows-1252')
    expect([Buffer.from(bytes).toString('latin1'), lost, firstLost]).toEqual(['a?b?', 2, '中'])
  })
})

test('any rows come back equal from a foreign reader, in any dialect', () => {
  const cell = fc.oneof(
    fc.string({ unit: fc.constantFrom(',', ';', '"', '\n', '\r', '|', 'x', '汉', '=', ' '), maxLength: 6 }),
    fc.constantFrom(null, true, 1.25, -3),
  )
  const example = fc.record({
    rows: fc.array(fc.record({ a: cell, b: cell }), { maxLength: 6 }),
    delimiter: fc.constantFrom(';', '|', '\t'),
    quote: fc.constantFrom('text' as const, 'minimal' as const, 'all' as const),
  })
  const shown = (value: unknown) =>
    value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  fc.assert(
    fc.property(fc.array(example, { minLength: 60, maxLength: 60, size: 'max' }), (examples) => {
      const files = examples.map(({ rows, delimiter, quote }) => ({
        delimiter,
        text: file(templateFromKeys(['a', 'b']), { delimiter, quote, formulas: 'keep' }, rows),
      }))
      const script =
        'import csv, io, json, sys\njson.dump([list(csv.reader(io.StringIO(f["text"], newline=""), strict=True, delimiter=f["delimiter"])) for f in json.load(sys.stdin)], sys.stdout)'
      const read = JSON.parse(
        execFileSync('python3', ['-c', script], { input: JSON.stringify(files) }).toString(),
      )
      expect(read.map((records: string[][]) => records.slice(1))).toEqual(
        examples.map(({ rows }) => rows.map(({ a, b }) => [shown(a), shown(b)])),
      )
    }),
    { numRuns: 4 },
  )
})

test.each([
  ['[h]:mm:ss', '1110815:59:59'],
  ['[mm]:ss', '66648959:59'],
  ['[h]', '1110815'],
  ['[ss]', '3998937599'],
  ['[Red][h]:mm', '1110815:59'],
  ['aaaa', undefined],
  ['e', undefined],
  ['[$-407]dddd, d. mmmm yyyy', 'Freitag, 18. September 2026'],
  ['[$-804]yyyy"年"m"月"d"日" aaaa', undefined],
  ['h:mm:ss a/p', '11:59:59 p'],
  ['h:mm A/P', '11:59 P'],
  ['[Blue]yyyy-mm-dd', '2026-09-18'],
])('%s shows the same in a CSV file and in a preview', (format, expected) => {
  const wallClock = Date.UTC(2026, 8, 18, 23, 59, 59, 999)
  const text = dateText(format)(wallClock)
  expect(text).toBe(shownText(format, excelSerialMillis(wallClock - 999) / 86_400_000))
  expect(text).not.toBe('')
  if (expected !== undefined) expect(text).toBe(expected)
})
