import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
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
    const expected = ['"id","name","note"', '"1","a, ""b""","x\ny"', '"2",,"中"', '"3",,']
    for (const sign of [',', ';', '\t', '|']) {
      const text = `\ufeffid${sign}"name"${sign}note\r\n1${sign}"a, ""b"""${sign}"x\ny"\r\n\r\n2${sign}${sign}中\r\n3\r\n`
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

  test('what cannot be read is said with its line', async () => {
    await expect(exported('csv', 'a,b\n1,2\n1,2,3\n')).rejects.toThrow(/line 3 has 3 fields/)
    await expect(exported('csv', 'a,a\n1,2\n')).rejects.toThrow(/two columns are named "a"/)
    await expect(exported('csv', 'a,b\n1,"2\n')).rejects.toThrow(/cannot be read/)
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

test('a stream that breaks off is no file', async () => {
  for (const [preset, body] of [
    ['ndjson', '{"a":1}\n'],
    ['csv', 'a\n1\n'],
  ] as const)
    await expect(
      exported(preset, body, { 'content-length': '1000', connection: 'close' }),
    ).rejects.toMatchObject({
      kind: { code: 'CONNECTION_LOST' },
    })
})
