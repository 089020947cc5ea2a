import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CsvPart, CsvWriter } from '../../../src/exports/csv/index.ts'
import { parseTemplate, type Template, templateFromKeys } from '../../../src/exports/template/index.ts'
import { ERRORS, isAppError } from '../../../src/kernel/index.ts'

/** A number is given by its digits, as the spool keeps them; undefined is a key that the row lacks. */
type Value = string | { digits: string } | boolean | null | undefined

function spoolField(value: Value): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return `"${value.replaceAll('"', '""')}"`
  if (typeof value === 'object' && value !== null) return value.digits
  return String(value)
}

function spoolOf(rows: Value[][]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(spoolField).join(',')}\n`).join(''))
}

/** What a reader must find in the field. */
function csvValue(value: Value): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'object') return value.digits
  if (typeof value === 'boolean') return String(value)
  return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
}

function* chunksOf(bytes: Buffer, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function write(template: Template, parts: CsvPart[], bom = false): Promise<string> {
  const written: Uint8Array[] = []
  for await (const bytes of new CsvWriter(template, { bom }).write(parts)) written.push(bytes)
  return Buffer.concat(written).toString()
}

const number = (digits: string) => ({ digits })

/** Reads many CSV texts with Python's csv module in one go. */
function readByPython(files: string[]): string[][][] {
  const script =
    'import csv, io, json, sys\n' +
    'files = json.load(sys.stdin)\n' +
    'csv.field_size_limit(1 << 30)\n' +
    'json.dump([list(csv.reader(io.StringIO(text, newline=""), strict=True)) for text in files], sys.stdout)\n'
  const output = execFileSync('python3', ['-c', script], {
    input: JSON.stringify(files),
    maxBuffer: 1 << 30,
  })
  return JSON.parse(output.toString())
}

describe('a CSV file', () => {
  const template = templateFromKeys(['a', 'b', 'c'])

  test('quotes only what needs it, and keeps numbers to the digit', async () => {
    const spool = spoolOf([
      ['plain', number('12345678901234567890'), number('-1.10')],
      ['a,b', 'say "no"', 'two\nlines'],
      [null, undefined, ''],
      [true, false, ' padded '],
      ['cr\ronly', '汉字', '"'],
    ])
    expect(await write(template, [{ spool: [spool] }])).toBe(
      'a,b,c\r\n' +
        'plain,12345678901234567890,-1.10\r\n' +
        '"a,b","say ""no""","two\nlines"\r\n' +
        ',,\r\n' +
        'true,false, padded \r\n' +
        '"cr\ronly",汉字,""""\r\n',
    )
  })

  test('disarms texts that a spreadsheet would take for formulas, but no numbers', async () => {
    const spool = spoolOf([
      ['=1+1', '+86 138', '-5'],
      ['@x', '\tx', '\rx'],
      ['=HYPERLINK("x","y")', number('-5'), '5-3'],
    ])
    expect(await write(parseTemplate({ a: '=cmd', b: 'b', c: 'c' })!, [{ spool: [spool] }])).toBe(
      "'=cmd,b,c\r\n" +
        "'=1+1,'+86 138,'-5\r\n" +
        "'@x,'\tx,\"'\rx\"\r\n" +
        '"\'=HYPERLINK(""x"",""y"")",-5,5-3\r\n',
    )
  })

  test('begins with a byte order mark unless told otherwise', async () => {
    expect(await write(template, [], true)).toBe('\ufeffa,b,c\r\n')
    expect(await write(template, [], false)).toBe('a,b,c\r\n')
    const first = await new CsvWriter(template).write([]).next()
    expect([...(first.value as Uint8Array).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  })

  test('with one column shows an empty value as quotes, so that no reader skips the line', async () => {
    const spool = spoolOf([[null], [''], ['x'], [undefined]])
    expect(await write(templateFromKeys(['a']), [{ spool: [spool] }])).toBe('a\r\n""\r\n""\r\nx\r\n""\r\n')
  })

  test('with nothing but empty values loses none of them', async () => {
    const rows = 300_000
    const file = await write(templateFromKeys(['a']), [{ spool: [Buffer.from('\n'.repeat(rows))] }])
    expect(file === `a\r\n${'""\r\n'.repeat(rows)}`).toBe(true)
    const wide = await write(templateFromKeys(['a', 'b']), [{ spool: [Buffer.from(',\n'.repeat(rows))] }])
    expect(wide === `a,b\r\n${',\r\n'.repeat(rows)}`).toBe(true)
    const formulas = await write(templateFromKeys(['a']), [{ spool: [Buffer.from('"="\n'.repeat(rows))] }])
    expect(formulas === `a\r\n${"'=\r\n".repeat(rows)}`).toBe(true)
  })

  test('shows fields in the order of the columns, twice or not at all if so declared', async () => {
    const wide = parseTemplate([
      { name: 'x' },
      { title: 'Empty' },
      { name: 'y' },
      { name: 'x', title: 'Again' },
    ])!
    const spool = spoolOf([
      ['a,"1"', number('2')],
      ['=b', null],
    ])
    expect(await write(wide, [{ spool: [spool] }])).toBe(
      'x,Empty,y,Again\r\n"a,""1""",,2,"a,""1"""\r\n\'=b,,,\'=b\r\n',
    )
  })

  test('puts the labels of row headers first', async () => {
    const rows = parseTemplate({
      ceil: [{ name: 'v' }, { name: '__row__', title: 'Area' }],
      row: [
        { title: 'N, E', children: [{ name: 'n', title: '=n' }] },
        { name: 's', title: 'S' },
      ],
    })!
    const parts = [
      { row: 'n', spool: [spoolOf([[number('1')], [null]])] },
      { row: 's', spool: [spoolOf([['x']])] },
    ]
    expect(await write(rows, parts)).toBe('Area,Area,v\r\n"N, E",\'=n,1\r\n"N, E",\'=n,\r\nS,,x\r\n')
    await expect(write(rows, [{ row: 'w', spool: [] }])).rejects.toThrow('no row header is named "w"')
  })

  test('lends its bytes until the next ones when asked to, and gives them away otherwise', async () => {
    const spool = spoolOf(Array.from({ length: 60_000 }, (_, i) => [number(String(i)), 'b', null]))
    const whole = await write(template, [{ spool: [spool] }])
    let lent = ''
    const buffers = new Set<unknown>()
    for await (const bytes of new CsvWriter(template, { bom: false, reuse: true }).write([
      { spool: [spool] },
    ])) {
      lent += Buffer.from(bytes).toString('latin1')
      buffers.add(bytes.buffer)
    }
    expect(lent === whole).toBe(true)
    expect(buffers.size).toBe(2)
  })

  test('counts its records', async () => {
    const writer = new CsvWriter(template)
    const spool = spoolOf(Array.from({ length: 10_000 }, () => ['a', 'b\n', null]))
    for await (const _ of writer.write([{ spool: chunksOf(spool, 1_000) }, { spool: [spool] }]));
    expect(writer.rows).toBe(20_000)
  })

  test('stops when it is told to', async () => {
    const abort = new AbortController()
    const spool = spoolOf([['a', 'b', 'c']])
    const bytes = new CsvWriter(template).write([{ spool: [spool, spool] }], abort.signal)
    await bytes.next()
    await bytes.next()
    abort.abort(new Error('enough'))
    await expect(bytes.next()).rejects.toThrow('enough')
  })
})

describe('a damaged spool', () => {
  test.each([
    ['"a","b"\n', 'a record has 2 fields, not 3'],
    ['"a","b","c","d"\n', 'a record has more than 3 fields'],
    ['"a","b","c"', 'the spool ends inside record 1'],
    ['"a","b","c\n', 'the spool ends inside record 1'],
    ['"a"x,"b","c"\n', 'field 1 of a record goes on behind its end'],
    ['1,2,3\n4,5', 'the spool ends inside record 2'],
  ])('%j is an error, not a crooked file', async (spool, message) => {
    for (const order of [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
    ]) {
      const template = { ...templateFromKeys(order), fields: ['a', 'b', 'c'] }
      const error = await write(template, [{ spool: [Buffer.from(spool)] }]).catch(
        (thrown: unknown) => thrown,
      )
      expect(isAppError(error, ERRORS.SPOOL_DAMAGED)).toBe(true)
      expect((error as Error).message).toContain(message)
    }
  })
})

describe('any rows', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(',', '"', '\n', '\r', '\t', '=', '-', "'", ' ', '汉', '😀', 'n'),
      fc.string(),
    ),
    maxLength: 8,
  })
  const value: fc.Arbitrary<Value> = fc.oneof(
    { weight: 3, arbitrary: text.map((t) => t.toWellFormed().replaceAll('\0', '')) },
    fc.integer().map((n) => number(String(n))),
    fc.constantFrom<Value>(null, undefined, true, false, number('1.10'), number('-0.5e-7')),
  )
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((width) => fc.array(fc.array(value, { minLength: width, maxLength: width }), { maxLength: 8 }))

  /** Output order as a template over fields f0, f1 …; null is an empty column. */
  const order = fc.array(fc.oneof(fc.nat({ max: 4 }), fc.constant(null)), { minLength: 1, maxLength: 6 })

  /** Starting Python costs more than reading a file, so each run of a property holds many. */
  const batch = { minLength: 50, maxLength: 60, size: 'max' } as const

  test('come back equal from a foreign reader, wherever the chunks end', async () => {
    const example = fc.tuple(table, fc.integer({ min: 1, max: 40 }))
    await fc.assert(
      fc.asyncProperty(fc.array(example, batch), async (examples) => {
        const files: string[] = []
        for (const [rows, size] of examples) {
          const keys = (rows[0] ?? [null]).map((_, i) => `f${i}`)
          files.push(await write(templateFromKeys(keys), [{ spool: chunksOf(spoolOf(rows), size) }]))
        }
        const found = readByPython(files).map((records) => records.slice(1))
        expect(found).toEqual(examples.map(([rows]) => rows.map((row) => row.map(csvValue))))
      }),
      { numRuns: 8 },
    )
  })

  test('come back in the order that the columns ask for', async () => {
    const example = fc.tuple(table, order, fc.integer({ min: 1, max: 40 }))
    await fc.assert(
      fc.asyncProperty(fc.array(example, batch), async (examples) => {
        const files: string[] = []
        for (const [rows, columns, size] of examples) {
          const fields = (rows[0] ?? [null]).map((_, i) => `f${i}`)
          const nodes = columns.map((column) => ({
            name: column === null ? '_' : `f${column % fields.length}`,
            title: 't',
          }))
          const template = { ...parseTemplate(nodes)!, fields }
          files.push(await write(template, [{ spool: chunksOf(spoolOf(rows), size) }]))
        }
        const found = readByPython(files).map((records) => records.slice(1))
        const expected = examples.map(([rows, columns]) =>
          rows.map((row) =>
            columns.map((column) => (column === null ? '' : csvValue(row[column % row.length]))),
          ),
        )
        expect(found).toEqual(expected)
      }),
      { numRuns: 8 },
    )
  })

  test('may hold a text of many megabytes that arrives in small pieces', async () => {
    const long = '汉"x,\n'.repeat(250_000)
    const spool = spoolOf([
      ['a', long],
      ['b', 'c'],
    ])
    const template = templateFromKeys(['x', 'y'])
    const expected = `x,y\r\na,"${long.replaceAll('"', '""')}"\r\nb,c\r\n`
    expect((await write(template, [{ spool: chunksOf(spool, 4_096) }])) === expected).toBe(true)
    const twice = parseTemplate([{ name: 'y' }, { name: 'y', title: 'z' }, { name: 'x' }])!
    const file = await write({ ...twice, fields: ['x', 'y'] }, [{ spool: chunksOf(spool, 65_536) }])
    const quoted = `"${long.replaceAll('"', '""')}"`
    expect(file === `y,z,x\r\n${quoted},${quoted},a\r\nc,c,b\r\n`).toBe(true)
  })
})
