import { type AddressInfo, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { onlyUtf8 } from '../../../../src/exports/sources/ask/index.ts'
import { startApi } from './api-server.ts'
import { columnOf, exportSource } from './export-source.ts'

async function exported(preset: 'ndjson' | 'csv', body: string | Buffer, headers = {}, wishes = {}) {
  const { origin, asked } = await startApi(() => ({
    body,
    headers: { 'content-type': 'text/plain', ...headers },
  }))
  const made = await exportSource({ url: `${origin}/rows?day=1`, preset }, wishes)
  expect(asked.map(({ url }) => url.search)).toEqual(['?day=1'])
  return made
}

describe('JSON lines', () => {
  test('one object per line, with blank lines, a mark and either line end', async () => {
    const { lines } = await exported(
      'ndjson',
      '\ufeff{"a":1,"b":"x"}\r\n\n  {"a":2,"c":{"d":null}}\n{"a":12345678901234567890}',
    )
    expect(lines).toEqual(['"a","b","c"', '1,"x",', '2,,"{""d"":null}"', '12345678901234567890,,'])
  })

  test('any number of rows, whatever the pieces that they come in', async () => {
    const text = Array.from(
      { length: 60_000 },
      (_, id) => `{"id":${id},"note":"${'汉'.repeat(id % 20)}"}\n`,
    ).join('')
    const { lines, rows } = await exported('ndjson', text, {}, { key: ['id'] })
    expect(rows).toBe(60_000)
    expect(columnOf(lines, 'id').every((id, n) => id === String(n))).toBe(true)
  })

  test('equal lines are rows like any others', async () => {
    const { rows } = await exported('ndjson', '{"a":1}\n'.repeat(150_000))
    expect(rows).toBe(150_000)
  })

  test('a line that is no object is named, wherever it is', async () => {
    const good = '{"a":1}\n'.repeat(99_999)
    for (const [line, reason] of [
      ['[1]', /line 100000 is not a JSON object/],
      ['{"a":1},{"a":2}', /line 100000 is not one JSON object/],
      ['{"a":1}],"data":[{"a":2}', /line 100000 is not one JSON object/],
      ['{"a":', /line 100000 is not JSON/],
      ['{"a":1', /line 100000 is not JSON/],
    ] as const)
      await expect(exported('ndjson', `${good}${line}\n${good}`)).rejects.toThrow(reason)
  })

  test('nothing at all is a file without rows', async () => {
    expect((await exported('ndjson', '\n\n')).rows).toBe(0)
  })
})

describe('CSV', () => {
  test('the first line names the columns; quotes, line breaks and other delimiters are read', async () => {
    const expected = ['"id","name","note"', '"1","a, ""b""","x\ny"', '"2",,"中"']
    for (const sign of [',', ';', '\t', '|']) {
      const text = `\ufeffid${sign}"name"${sign}note\r\n1${sign}"a, ""b"""${sign}"x\ny"\r\n\r\n2${sign}${sign}中\r\n`
      expect((await exported('csv', text)).lines).toEqual(expected)
    }
  })

  test('a template gives its texts types', async () => {
    const template = [
      { name: 'n', type: 'number' },
      { name: 'day', type: 'date' },
    ]
    const { bytes } = await exported('csv', 'n,day,x\n1.50,2026-02-28,y\n', {}, { template, type: 'jsonl' })
    expect(bytes.toString()).toBe('{"n":"1.50","day":"2026-02-28"}\n')
  })

  test.each(['csv', 'ndjson'] as const)(
    'a %s source that says ASCII is read as UTF-8, of which that is a part, and never as another charset',
    async (preset) => {
      const text = preset === 'csv' ? 'name\nGruß 王\n' : '{"name":"Gruß 王"}\n'
      for (const charset of ['ascii', 'US-ASCII', 'ansi_x3.4-1968']) {
        const headers = { 'content-type': `text/plain; charset=${charset}` }
        expect((await exported(preset, text, headers)).lines).toEqual(['"name"', '"Gruß 王"'])
        const latin = Buffer.from(text.replace('王', ''), 'latin1')
        await expect(exported(preset, latin, headers)).rejects.toMatchObject({ code: 'SOURCE_CHARSET' })
      }
      const latin = Buffer.from(text.replace('王', '!'), 'latin1')
      const named = await exported(preset, latin, { 'content-type': 'text/plain; charset=iso-8859-1' })
      expect(named.lines).toEqual(['"name"', '"Gruß !"'])
      const unknown = exported(preset, text, { 'content-type': 'text/plain; charset=x-user-defined' })
      await expect(unknown).rejects.toMatchObject({ code: 'SOURCE_CHARSET' })
    },
  )

  test('UTF-16 with a byte order mark needs no charset', async () => {
    const body = Buffer.from('\ufeffname\nGruß 王\n', 'utf16le')
    const plain = await exported('csv', Buffer.from('name\nGruß 王\n'))
    for (const bytes of [body, Buffer.from(body).swap16()])
      expect((await exported('csv', bytes, { 'content-type': 'text/csv' })).lines).toEqual(plain.lines)
  })

  test('another charset is read as it says', async () => {
    const body = Buffer.from('name\n\u00e9\n', 'latin1')
    const { lines } = await exported('csv', body, { 'content-type': 'text/csv; charset=windows-1252' })
    expect(lines).toEqual(['"name"', '"é"'])
  })

  test('many rows come in order', async () => {
    const text = `id,note\n${Array.from({ length: 30_000 }, (_, id) => `${id},"a ""${id}"""\n`).join('')}`
    const { lines } = await exported('csv', text)
    expect(columnOf(lines, 'id').every((id, n) => id === `"${n}"`)).toBe(true)
    expect(lines).toHaveLength(30_001)
  })

  test('an empty line is a row of a file with one column, and nothing in one with more', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const one = await exported('csv', ['id', '1', '', '""', '3', ''].join(end))
      expect(one.lines).toEqual(['"id"', '"1"', '""', '""', '"3"'])
      const two = await exported('csv', ['', 'id,n', '', '1,2', '', '', '3,4', ''].join(end))
      expect(two.lines).toEqual(['"id","n"', '"1","2"', '"3","4"'])
    }
  })

  test("Excel's line sep= names the delimiter, whatever the lines have more of", async () => {
    for (const [head, sign] of [
      ['sep=;', ';'],
      ['\ufeffsep=;', ';'],
      ['"sep=:"', ':'],
      ['SEP=\t', '\t'],
    ]) {
      const { lines } = await exported('csv', `${head}\r\n"a,b,c"${sign}n\r\n1${sign}2\r\n`)
      expect(lines).toEqual(['"a,b,c","n"', '"1","2"'])
    }
    await expect(exported('csv', 'sep=;\na;b\n1\n')).rejects.toMatchObject({ details: { line: 3 } })
  })

  test('a line with too few or too many fields ends the export, with the line and the remedy', async () => {
    for (const [text, line, reason] of [
      ['a,b\n1,2\n1,2,3\n', 3, /line 3 has 3 fields, the first line has 2.*quotes/],
      ['a,b\n1,2\n\n"x\ny",1\n3\n', 6, /line 6 has 1 field, the first line has 2.*short_lines/],
      ['a,b\n1,2\n"x\ny"\n', 3, /line 3 has 1 field,/],
      ['a,b\n1,2\n3', 3, /line 3 has 1 field/],
    ] as const)
      await expect(exported('csv', text)).rejects.toMatchObject({
        kind: { code: 'SOURCE_SHAPE' },
        message: expect.stringMatching(reason),
        details: { line },
        retryable: false,
      })
  })

  test('short lines are filled with nulls where the source says so, with a warning; a line that is cut is not', async () => {
    const { origin } = await startApi(({ url }) => ({
      body: url.searchParams.has('cut') ? 'a,b,c\n1,2,3\n4,5' : 'a,b,c\n1,2,3\n4\n5,6\n',
    }))
    const source = { url: origin, preset: 'csv', short_lines: 'fill' } as const
    const { lines, warnings } = await exportSource(source)
    expect(lines).toEqual(['"a","b","c"', '"1","2","3"', '"4",,', '"5","6",'])
    expect(warnings).toEqual([
      '2 lines of the CSV have fewer fields than the first line, beginning with line 3; what they lack is empty',
    ])
    await expect(exportSource({ ...source, url: `${origin}?cut` })).rejects.toThrow(
      /line 3 has 2 fields, the first line has 3, and it has no line end: the file is cut/,
    )
  })

  test('a quote is reported where it opens, with the remedy', async () => {
    const good = Array.from({ length: 50 }, (_, n) => `${n},a\n`).join('')
    for (const [text, line, reason] of [
      [`id,name\n${good}50,"oops\n${good.repeat(10)}`, 52, /line 52, field 2: the quote that opens/],
      ['id,name\n1,5" pipe\n2,ok\n', 2, /line 2, field 2: a quote comes after other characters/],
      ['id,name\n1,"oops\n2,"x"\n', 2, /line 2, field 2: .* in line 3/],
      [`id,name\n${good}50,"${'x'.repeat(5_000_000)}"\n`, 52, /line 52, field 2: .*longer than 4194304/],
    ] as const) {
      const error = await exported('csv', text).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ kind: { code: 'SOURCE_SHAPE' }, details: { line }, retryable: false })
      expect(error).toMatchObject({ message: expect.stringMatching(reason) })
      expect(error).toMatchObject({ message: expect.stringMatching(/""/) })
    }
  })

  test('what cannot be read is said', async () => {
    await expect(exported('csv', 'a,a\n1,2\n')).rejects.toThrow(/two columns are named "a"/)
    expect((await exported('csv', '')).rows).toBe(0)
    expect((await exported('csv', 'a,b\n')).lines).toEqual(['"a","b"'])
  })
})

test('a character that is not of the charset ends the export, with its line', async () => {
  const charset = { code: 'SOURCE_CHARSET' }
  const gbk = Buffer.from([0xd6, 0xd0]) // 中
  const text = 'name\n'.repeat(50_000)
  for (const [preset, head, before, after] of [
    ['csv', '', text, '\n'],
    ['ndjson', '', '{"a":1}\n'.repeat(50_000), '\n'],
    ['csv', '"é","', '', '"\n1,2\n'],
  ] as const) {
    const body = Buffer.concat([Buffer.from(`${head}${before}`), gbk, Buffer.from(after)])
    const line = before === '' ? 1 : 50_001
    const error = await exported(preset, body).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: charset, retryable: false, details: { line } })
    expect(error).toMatchObject({ message: expect.stringMatching(/charset=gbk/) })
  }
  // Half a character at the end.
  await expect(exported('csv', Buffer.from('a\né').subarray(0, 3))).rejects.toMatchObject({ kind: charset })
  for (const [type, reason] of [
    ['text/csv; charset=klingon', /klingon/],
    ['text/csv; charset=gbk', /not valid gbk/],
  ] as const)
    await expect(
      exported('csv', Buffer.from([0x61, 0x0a, 0xff, 0xff]), { 'content-type': type }),
    ).rejects.toMatchObject({ kind: charset, message: expect.stringMatching(reason) })
})

test('a character that is cut by the pieces of a stream arrives whole', async () => {
  const chunks = [...Buffer.from('name\n中😀é\n')].map((byte) => Uint8Array.of(byte))
  const joined = []
  for await (const chunk of onlyUtf8(Readable.from(chunks))) joined.push(chunk)
  expect(Buffer.concat(joined).toString()).toBe('name\n中😀é\n')
})

test('a stream that breaks off is no file, and its error says how far it came', async () => {
  for (const [preset, head, line] of [
    ['ndjson', '', `{"a":"${'x'.repeat(90)}"}\n`],
    ['csv', 'a,b\n', `1,${'x'.repeat(97)}\n`],
  ] as const) {
    const body = `${head}${line.repeat(40_000)}`
    const error = await exported(preset, body, {
      'content-length': '10000000',
      connection: 'close',
    }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: { code: 'CONNECTION_LOST' }, retryable: true })
    const [, lines] = /^the answer broke off after (\d+) lines: 127/.exec((error as Error).message) ?? []
    // What had come and was not yet read is lost: half a megabyte at most, and what the sockets hold.
    expect(Number(lines)).toBeGreaterThan(20_000)
  }
})

test('a CSV that has neither a length nor a last line end may be cut: the file says so', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\nconnection: close\r\n\r\n'
  for (const [text, warnings] of [
    ['a,b\n1,2\n3,4', [expect.stringMatching(/last line, line 3, may be cut/)]],
    ['a,b\n1,2\n3,4\n', []],
  ] as const) {
    const server = createServer((socket) => socket.once('data', () => socket.end(`${head}${text}`)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const made = await exportSource({ url, preset: 'csv' })
    expect({ rows: made.rows, warnings: made.warnings }).toEqual({ rows: 2, warnings })
  }
})
