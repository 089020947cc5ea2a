import { expect, test } from 'vitest'
import type { PageBody } from '../../../../src/exports/sources/pages/index.ts'
import { MessageTap } from '../../../../src/exports/sources/sql/postgres/message-tap.ts'
import type { ValueForm } from '../../../../src/exports/sources/sql/postgres/postgres-columns.ts'
import { RowPages } from '../../../../src/exports/sources/sql/postgres/row-pages.ts'

type Value = string | Buffer | null

function message(letter: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5, letter)
  head.writeInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}

/** As PostgreSQL sends it: how many values there are, and each with its length. */
function dataRow(values: readonly Value[]): Buffer {
  const parts = values.map((value) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(value === null ? -1 : Buffer.byteLength(value))
    return Buffer.concat([length, Buffer.from(value ?? '')])
  })
  const count = Buffer.alloc(2)
  count.writeInt16BE(values.length)
  return message('D', Buffer.concat([count, ...parts]))
}

const textOf = ({ bytes, length }: PageBody) => bytes.toString('utf8', 0, length)

/** What a value becomes in a column of that form. */
function written(form: ValueForm, value: Value): string {
  const pages = new RowPages([{ name: 'a', form }])
  const row = dataRow([value])
  expect(pages.add(row, 5)).toBeUndefined()
  return textOf(pages.rest()!.text as PageBody).slice('{"data":[{"a":'.length, -3)
}

test.each<[ValueForm, string, string]>([
  ['plain', '{"n": [1, 2]}', '{"n": [1, 2]}'],
  ['number', '-12.50000000000000000000', '-12.50000000000000000000'],
  ['number', '1e+300', '1e+300'],
  ['number', 'NaN', '"NaN"'],
  ['number', '-Infinity', '"-Infinity"'],
  ['boolean', 't', 'true'],
  ['boolean', 'f', 'false'],
  ['time', '2024-02-29 08:30:15', '"2024-02-29T08:30:15"'],
  ['time', '2024-02-29 08:30:15.5', '"2024-02-29T08:30:15.5"'],
  ['time', '2024-02-29 08:30:15.123456+00', '"2024-02-29T08:30:15.123456+00:00"'],
  ['time', '2024-02-29 08:30:15-03', '"2024-02-29T08:30:15-03:00"'],
  ['time', '2024-02-29 08:30:15+05:30', '"2024-02-29T08:30:15+05:30"'],
  ['time', 'infinity', '"infinity"'],
  ['time', '0044-03-15 12:00:00 BC', '"0044-03-15 12:00:00 BC"'],
  ['time', '12024-02-29 08:30:15+00', '"12024-02-29 08:30:15+00"'],
  ['text', '', '""'],
  ['text', 'a "b"\\ 汉 😀', JSON.stringify('a "b"\\ 汉 😀')],
])('a value of the form %s: %s', (form, value, json) => {
  expect(written(form, value)).toBe(json)
  expect(written(form, null)).toBe('null')
})

test('texts of every character are the JSON that JSON.stringify writes, short and long', () => {
  const all = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)).join('')
  for (const text of [all, '\u0001'.repeat(60_000), `${all}汉`.repeat(500)])
    expect(written('text', text) === JSON.stringify(text)).toBe(true)
})

test('bytes that are no characters become replacements', () => {
  expect(written('text', Buffer.from([0x61, 0xff, 0x62]))).toBe('"a\ufffdb"')
})

test('rows are whole wherever the network cuts them, and everything else reaches the client', () => {
  const rows: Value[][] = [
    ['1', 'first'],
    [null, '第二'],
    ['3', null],
  ]
  const sent = Buffer.concat([
    message('T', Buffer.from('columns')),
    ...rows.map(dataRow),
    message('N', Buffer.alloc(0)),
    dataRow(['4', 'last']),
    message('C', Buffer.from('FETCH 4')),
    message('Z', Buffer.from('T')),
  ])
  for (let size = 1; size <= sent.length; size++) {
    const pages = new RowPages([
      { name: 'id', form: 'plain' },
      { name: 'note', form: 'text' },
    ])
    let others = ''
    const tap = new MessageTap(
      (bytes, at) => pages.add(bytes, at),
      (bytes) => (others += String.fromCharCode(bytes[0]!)),
    )
    for (let at = 0; at < sent.length; at += size) tap.push(sent.subarray(at, at + size))
    expect(others).toBe('TNCZ')
    expect(textOf(pages.rest()!.text as PageBody)).toBe(
      '{"data":[{"id":1,"note":"first"},{"id":null,"note":"第二"},{"id":3,"note":null},{"id":4,"note":"last"}]}',
    )
  }
})

test('a row that is too large is refused by its first bytes', () => {
  const head = Buffer.alloc(5, 'D')
  head.writeInt32BE(70 * 1024 * 1024, 1)
  const tap = new MessageTap(
    () => undefined,
    () => undefined,
  )
  expect(() => tap.push(head)).toThrow(/large/)
})

test('the memory of a page is used again only when the next but one is asked for', () => {
  const pages = new RowPages([{ name: 'a', form: 'text' }])
  const row = dataRow(['x'.repeat(60_000)])
  const next = () => {
    for (;;) {
      const page = pages.add(row, 5)
      if (page) return page
    }
  }
  const [first, second] = [next(), next()]
  const before = textOf(second.text as PageBody)
  pages.passed(first)
  pages.passed(second)
  const third = next()
  expect((third.text as PageBody).bytes.buffer).toBe((first.text as PageBody).bytes.buffer)
  expect(textOf(second.text as PageBody)).toBe(before)
})
