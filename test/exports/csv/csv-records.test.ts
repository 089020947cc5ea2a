import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_DIALECT, layOutCsv } from '../../../src/exports/csv/index.ts'
import { isFormula } from '../../../src/exports/sheet/index.ts'
import { parseTemplate, type Template, templateFromKeys } from '../../../src/exports/template/index.ts'
import { transcodeToCsv } from '../sources/spool/transcode-page.ts'

const columns = (template: Template, { bom }: { bom: boolean }) =>
  layOutCsv(template, { dialect: { ...DEFAULT_DIALECT, bom }, timezone: 'UTC' }).spool
const file = (template: Template, ...pages: string[]) =>
  transcodeToCsv(columns(template, { bom: false }), ...pages)

describe('a CSV file', () => {
  const template = templateFromKeys(['a', 'b', 'c'])

  test('quotes texts and nothing else, and keeps numbers to the digit', () => {
    const rows = String.raw`[
      {"a":"plain","b":12345678901234567890,"c":-1.10},
      {"a":"a,b","b":"say \"no\"","c":"two\nlines"},
      {"a":null,"c":""},
      {"a":true,"b":false,"c":" padded "},
      {"a":{"x":[1,"y"]},"b":"汉字","c":"\""}]`
    expect(file(template, rows)).toBe(
      '"a","b","c"\r\n' +
        '"plain",12345678901234567890,-1.10\r\n' +
        '"a,b","say ""no""","two\nlines"\r\n' +
        ',,""\r\n' +
        'true,false," padded "\r\n' +
        '"{""x"":[1,""y""]}","汉字",""""\r\n',
    )
  })

  test('disarms texts that a spreadsheet would take for formulas, but no numbers', () => {
    const rows = String.raw`[
      {"a":"=1+1","b":"+cmd|' /C calc'!A0","c":"-A5"},
      {"a":"@x","b":"\tx","c":"\rx"},
      {"a":"=HYPERLINK(\"x\",\"y\")","b":-5,"c":"5-3"},
      {"a":"\u003d1","b":"-E5","c":"="},
      {"a":"\nx","b":"\u0000=1","c":"＝1"},
      {"a":"＋1","b":"－1","c":"\uff20x"},
      {"a":"（1）","b":"＃","c":"\uffee"}]`
    expect(file(parseTemplate({ a: '=cmd', b: '＝b', c: 'c' })!, rows)).toBe(
      '"\'=cmd","\'＝b","c"\r\n' +
        '"\'=1+1","\'+cmd|\' /C calc\'!A0","\'-A5"\r\n' +
        '"\'@x","\'\tx","\'\rx"\r\n' +
        '"\'=HYPERLINK(""x"",""y"")",-5,"5-3"\r\n' +
        '"\'=1","\'-E5","\'="\r\n' +
        '"\'\nx","\'\0=1","\'＝1"\r\n' +
        '"\'＋1","\'－1","\'＠x"\r\n' +
        '"（1）","＃","\uffee"\r\n',
    )
  })

  test('leaves numbers and phone numbers as they are, though they begin with a sign', () => {
    const plain = [
      '-12.50',
      '+8613800138000',
      '+86 138-0013-8000',
      '-1,234.5',
      '-1.5e-7',
      '-',
      '+49 (30) 1',
      '-5%',
      '-12:30:00',
      '+1:00:00.5',
      '-$3.00',
      '-￥3',
      '+3,50 €',
      '+86 1**-1234',
      '+1 (415) 555-0100',
      '+1(415)555-0100',
      '+44 (0)20 7946 0958',
      '+49 (30) 123/456',
      '+49 30 12/34',
      '-12.50 USD',
      '+3 EUR',
      '-3 €',
    ]
    expect(file(templateFromKeys(['a']), JSON.stringify(plain.map((a) => ({ a }))))).toBe(
      `"a"\r\n${plain.map((text) => `"${text}"\r\n`).join('')}`,
    )
    for (const text of [
      '-E5',
      '+1+A1',
      '-1e',
      '+1|x',
      '-1!',
      '-2+3',
      '=1',
      '-1\n',
      '+1"',
      '-12:30',
      '-$A$1',
      '-$3:$5',
      '+2*3',
      '-1**A1',
      "-1'!A1",
      '-(1)-(2)',
      '+1-(415)',
      '+49 30/123456',
      '+1/2',
      '-1 1/2',
      '-12 DEC',
      '-USD12',
      '-12 USD1',
      '-1/(2)',
    ])
      expect(isFormula(text)).toBe(true)
  })

  test('disarms formulas behind what nobody sees, in other forms of their signs, and sums', () => {
    const unseen = [
      ' ',
      '\u00a0',
      '\u3000',
      '\u200b',
      '\u2028',
      '\ufeff',
      '\u2060',
      '\v',
      '\u202e',
      ' \u00ad ',
    ]
    const texts = [
      ...unseen.flatMap((blank) => [`${blank}=1+1`, `${blank}@x`, `${blank}-A5`]),
      ...['﹢1', '﹣1', '−1', '﹦1', '﹫x', '+1-1', '--5', '+2026-01-01', `${'\ufeff'.repeat(40)}=1`],
    ]
    for (const text of texts) expect(isFormula(text), JSON.stringify(text)).toBe(true)
    expect(file(templateFromKeys(['a']), JSON.stringify(texts.map((a) => ({ a }))))).toBe(
      `"a"\r\n${texts.map((text) => `"'${text}"\r\n`).join('')}`,
    )
    const plain = [...unseen.map((blank) => `${blank}x=1`), ' -5', ' ', '---', '€=', '「=」', '£-']
    expect(file(templateFromKeys(['a']), JSON.stringify(plain.map((a) => ({ a }))))).toBe(
      `"a"\r\n${plain.map((text) => `"${text}"\r\n`).join('')}`,
    )
    const head = columns(templateFromKeys(['\ufeff=1+1']), { bom: false }).csv?.head
    expect(head).toBe('"\'\ufeff=1+1"\r\n')
  })

  test('begins with a byte order mark if it is to', () => {
    const head = (template: Template, bom: boolean) => columns(template, { bom }).csv?.head
    expect(head(template, true)).toBe('\ufeff"a","b","c"\r\n')
    expect(head(template, false)).toBe('"a","b","c"\r\n')
    expect(head(templateFromKeys([]), true)).toBe('\ufeff')
  })

  test('with one column shows an empty value as quotes, so that no reader skips the line', () => {
    const rows = '[{"a":null},{"a":""},{"a":"x"},{},{"a":null}]'
    expect(file(templateFromKeys(['a']), rows)).toBe('"a"\r\n""\r\n""\r\n"x"\r\n""\r\n""\r\n')
    expect(file(templateFromKeys(['a', 'b']), '[{},{"a":null}]')).toBe('"a","b"\r\n,\r\n,\r\n')
  })

  test('finds room for the shortest values that grow', () => {
    const many = (row: string) => `[${Array.from({ length: 20_000 }, () => row).join()}]`
    const [empty, formulas] = [file(templateFromKeys(['a']), many('{}')), file(template, many('{"b":"="}'))]
    expect(empty === `"a"\r\n${'""\r\n'.repeat(20_000)}`).toBe(true)
    expect(formulas === `"a","b","c"\r\n${',"\'=",\r\n'.repeat(20_000)}`).toBe(true)
  })

  test('shows fields in the order of the columns, twice or not at all if so declared', () => {
    const wide = parseTemplate([
      { name: 'x' },
      { title: 'Empty' },
      { name: 'y' },
      { name: 'x', title: 'Again' },
    ])!
    const rows = String.raw`[{"x":"a,\"1\"","y":2},{"y":null,"x":"=b"},{"x":"a,\"1\"","y":2}]`
    expect(file(wide, rows)).toBe(
      '"x","Empty","y","Again"\r\n' +
        '"a,""1""",,2,"a,""1"""\r\n' +
        '"\'=b",,,"\'=b"\r\n' +
        '"a,""1""",,2,"a,""1"""\r\n',
    )
    const gaps = parseTemplate([{ title: 'Empty' }, { name: 'x' }, { title: 'Empty too' }])!
    expect(file(gaps, '[{"x":1},{"x":2}]')).toBe('"Empty","x","Empty too"\r\n,1,\r\n,2,\r\n')
  })

  test('puts the labels of row headers first', () => {
    const template = parseTemplate({
      ceil: [{ name: 'v' }, { name: '__row__', title: 'Area' }],
      row: [
        { title: 'N, E', children: [{ name: 'n', title: '=n' }] },
        { name: 's', title: 'S' },
      ],
    })!
    const expected = '"Area","","v"\r\n"N, E","\'=n",1\r\n"N, E","\'=n",\r\n"S","","x"\r\n'
    expect(
      file(template, '[{"_row_head_":"n","v":1},{"_row_head_":"s","v":"x"},{"_row_head_":"n","v":null}]'),
    ).toBe(expected)
  })
})

test('row headers are found by their names, also by those that look like formulas', () => {
  const template = parseTemplate({
    ceil: [{ name: 'v' }, { name: '__row__', title: 'Area' }],
    row: [
      { name: '-1', title: 'minus' },
      { name: "'-1", title: 'quoted' },
      { name: '=a"b', title: 'odd' },
    ],
  })!
  const rows = ['-1', "'-1", '=a"b', '-1'].map((name, v) => ({ v, _row_head_: name }))
  expect(file(template, JSON.stringify(rows))).toBe(
    '"Area","v"\r\n"minus",0\r\n"minus",3\r\n"quoted",1\r\n"odd",2\r\n',
  )
})

test('row headers without a name have no records, and one that is the only column ends the record', () => {
  const template = parseTemplate({
    ceil: [{ name: '__row__', title: 'Area' }],
    row: [{ title: 'Empty' }, { name: 's', title: 'S' }],
  })!
  expect(file(template, '[{"_row_head_":"s"}]')).toBe('"Area"\r\n"S"\r\n')
  const nameless = parseTemplate({ ceil: [{ name: 'v' }], row: [{ title: 'Empty' }] })!
  expect(() => columns(nameless, { bom: true })).toThrow('row headers must have names')
})

test('labels that would fill the memory are refused', () => {
  const children = Array.from({ length: 100 }, (_, index) => ({ name: `n${index}` }))
  const template = parseTemplate({ ceil: [{ name: 'v' }], row: [{ title: 'x'.repeat(50_000), children }] })!
  expect(() => columns(template, { bom: true })).toThrow('the labels take more than')
})

test('records that would fill the memory are refused', () => {
  const nodes = Array.from({ length: 60 }, (_, index) => ({ name: 'x', title: `t${index}` }))
  const page = JSON.stringify([{ x: 'y'.repeat(5 * 1024 * 1024) }])
  expect(() => file(parseTemplate(nodes)!, page)).toThrow('a smaller page_size may help')
})

test('a long value that many columns show fits into the record', () => {
  const long = 'long, "text" '.repeat(20_000)
  const nodes = Array.from({ length: 40 }, (_, index) => ({ name: 'x', title: `t${index}` }))
  const cell = `"${long.replaceAll('"', '""')}"`
  const records = transcodeToCsv(
    columns(parseTemplate(nodes)!, { bom: false }),
    JSON.stringify([{ x: long }, { x: long }]),
  )
  const record = Array.from({ length: 40 }, () => cell).join(',')
  expect(records.endsWith(`\r\n${record}\r\n${record}\r\n`)).toBe(true)
})

describe('any rows', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(',', '"', '\n', '\r', '\t', '=', '-', "'", '\\', ' ', '汉', '😀', 'n'),
      fc.string(),
    ),
    maxLength: 8,
  })
  const value = fc.oneof(
    { weight: 3, arbitrary: text.map((t) => t.toWellFormed().replaceAll('\0', '')) },
    fc.integer(),
    fc.constantFrom(null, undefined, true, false, 1.25, -0.5e-7),
  )
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((width) => fc.array(fc.array(value, { minLength: width, maxLength: width }), { maxLength: 8 }))
  /** Which of the fields f0, f1 … each column shows; null is an empty column. */
  const order = fc.array(fc.oneof(fc.nat({ max: 4 }), fc.constant(null)), { minLength: 1, maxLength: 6 })

  /** Starting Python costs more than reading a file, so each run of a property holds many. */
  const batch = { minLength: 50, maxLength: 60, size: 'max' } as const

  test('come back equal from a foreign reader, in the order that the columns ask for', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(table, order, fc.boolean()), batch), (examples) => {
        const files = examples.map(([rows, columns, backwards]) => {
          const width = rows[0]?.length ?? 1
          const nodes = columns.map((column) => ({
            name: column === null ? '_' : `f${column % width}`,
            title: 't',
          }))
          const objects = rows.map((row) => {
            const pairs = row.map((cell, index) => [`f${index}`, cell] as const)
            return Object.fromEntries(backwards ? pairs.toReversed() : pairs)
          })
          return file(parseTemplate(nodes)!, JSON.stringify(objects))
        })
        const expected = examples.map(([rows, columns]) =>
          rows.map((row) =>
            columns.map((column) => (column === null ? '' : shown(row[column % row.length]))),
          ),
        )
        expect(readByPython(files).map((records) => records.slice(1))).toEqual(expected)
      }),
      { numRuns: 8 },
    )
  })

  /** What a reader must find in the field. */
  function shown(cell: string | number | boolean | null | undefined): string {
    if (cell === undefined || cell === null) return ''
    if (typeof cell !== 'string') return JSON.stringify(cell)
    return isFormula(cell) ? `'${cell}` : cell
  }
})

/** Reads many CSV texts with Python's csv module in one go. */
function readByPython(files: string[]): string[][][] {
  const script =
    'import csv, io, json, sys\n' +
    'files = json.load(sys.stdin)\n' +
    'json.dump([list(csv.reader(io.StringIO(text, newline=""), strict=True)) for text in files], sys.stdout)\n'
  const input = JSON.stringify(files)
  return JSON.parse(execFileSync('python3', ['-c', script], { input, maxBuffer: 1 << 30 }).toString())
}
