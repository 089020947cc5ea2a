import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PAGE_MARGIN } from '../../../../src/exports/sources/pages/index.ts'
import { RowTranscoder, SegmentBuffer, valueByName } from '../../../../src/exports/sources/rows/index.ts'
import { expectedValue, readSpool } from './read-spool.ts'
import { pageBytes, transcode } from './transcode-page.ts'

describe('values', () => {
  test('strings are quoted, everything else is not', () => {
    const row = '[{"a":"x","b":1,"c":true,"d":null,"e":false}]'
    expect(transcode(['a', 'b', 'c', 'd', 'e'], row)).toBe('"x",1,true,null,false\n')
  })

  test('every digit of a number survives', () => {
    const digits = ['12345678901234567890', '1.10', '-0.5', '1e21', '1E-7', '0', '-0', '0.000', '6.02e+23']
    for (const number of digits) expect(transcode(['a'], `[{"a":${number}}]`)).toBe(`${number}\n`)
  })

  test('escapes are decoded, and quotes doubled', () => {
    const text = String.raw`[{"a":"\u4e2d\"\\\/\b\f\n\r\t\u0022\uD83D\uDE00x"}]`
    expect(transcode(['a'], text)).toBe('"中""\\/\b\f\n\r\t""😀x"\n')
  })

  test('half a surrogate pair becomes the replacement character', () => {
    for (const text of ['\\ud83d', '\\ud83d\\u0041', '\\ude00', '\\ud83d\\ud83d\\ude00'])
      expect(transcode(['a'], `[{"a":"${text}"}]`)).toBe(
        `"${(JSON.parse(`"${text}"`) as string).toWellFormed()}"\n`,
      )
  })

  test('nested values are their own text on one line, digits and all', () => {
    const nested = '{"x":[1,"q\\" : , ",12345678901234567890,1.10],"y":{}}'
    const indented = '{\r\n\t"x" : [ 1,\n  "q\\" : , ", 12345678901234567890 , 1.10\n],\n "y":{ }\n}'
    for (const text of [nested, indented])
      expect(transcode(['a', 'b'], `[{"a":${text},"b":${text}}]`)).toBe(
        `${Array(2)
          .fill(`"${nested.replaceAll('"', '""')}"`)
          .join(',')}\n`,
      )
  })

  test('nested texts have real characters, and only the escapes that JSON needs', () => {
    const texts = [
      [String.raw`\u00e9\u4e2d\uD83D\uDE00\/x`, 'é中😀/x'],
      [String.raw`\u0022\"\\\u005c\n\u000a\u2028`, `${String.raw`\u0022\"\\\u005c\n\u000a`}\u2028`],
      [String.raw`\ud83d\u0041\ude00`, String.raw`\ud83dA\ude00`],
    ]
    for (const [text, shown] of texts)
      expect(readSpool(transcode(['a'], `[{"a":{"${text}":["${text}"]}}]`))).toEqual([
        [{ string: `{"${shown}":["${shown}"]}` }],
      ])
  })
})

describe('names that are paths', () => {
  test('a dotted name finds a value inside of an object, and a key of that very name wins wherever it is', () => {
    const rows = [
      '{"id":1,"customer":{"name":"a","address":{"city":"中"}}}',
      '{"id":2,"customer":{"address":{"city":"x","street":"y"},"name":"b"},"customer.address.city":"own"}',
      '{"id":3,"customer.address.city":"own","customer":{"address":{"city":"x"}}}',
      '{"id":4,"customer":null}',
      '{"id":5,"customer":{"address":["city"]}}',
      '{"id":6}',
      String.raw`{"id":7,"custome\u0072":{ "address" : { "cit\u0079" : {"deep":1} } }}`,
    ]
    expect(transcode(['id', 'customer.address.city', 'customer.name'], `[${rows.join(',')}]`)).toBe(
      '1,"中","a"\n2,"own","b"\n3,"own",\n4,,\n5,,\n6,,\n7,"{""deep"":1}",\n',
    )
  })

  test('an object and values inside of it can both be columns, at any depth', () => {
    const inner = `{"c":"${'q\\"'.repeat(500)}"}`
    const text = transcode(['a', 'a.b', 'a.b.c'], `[{"a":{"b":${inner}}}]`)
    const [whole, b, c] = readSpool(text)[0]!
    expect(whole).toEqual({ string: `{"b":${inner}}` })
    expect(b).toEqual({ string: inner })
    expect(c).toEqual({ string: 'q"'.repeat(500) })
  })

  test('a number is a place in a list, below zero counted from its end', () => {
    const row = {
      capital: ['Brno', 'Praha'],
      at: { coordinates: [49.2, 16.6] },
      phones: [{ n: 1 }, { n: 2 }],
      0: 'x',
      'literal.0': 'key',
      literal: ['item'],
      grid: [[1, 2], [[3]]],
      none: [],
      text: 'abc',
    }
    const names = ['capital.0', 'capital.-1', 'capital.2', 'capital.-3', 'at.coordinates.0', 'phones.-1.n']
    const more = ['phones.0.n', 'literal.0', 'grid.1.0.0', 'grid.0.-2', 'none.-1', 'none.0', 'text.0']
    const fields = [...names, ...more, 'phones.-2.n', 'capital']
    const record = '"Brno","Praha",,,49.2,2,1,"key",3,1,,,,1,"[""Brno"",""Praha""]"\n'
    expect(transcode(fields, JSON.stringify([row, row]))).toBe(record.repeat(2))
    expect(fields.slice(0, 7).map((name) => valueByName(row, name))).toEqual([
      'Brno',
      'Praha',
      undefined,
      undefined,
      49.2,
      2,
      1,
    ])
  })

  test('an item that two places and its list show is written in full', () => {
    const long = 'x'.repeat(5_000)
    const fields = ['a', 'a.0', 'a.-1', 'a.0.b', 'a.-1.b']
    const written = transcode(fields, JSON.stringify([{ a: [{ b: `"${long}"` }] }]))
    expect(written.match(/x{5000}/g)).toHaveLength(5)
  })

  test('names that are no paths stay keys', () => {
    expect(transcode(['.', 'a.', '.a', 'a..b'], '[{"a":{"":1,"b":2},".":3,"a.":4,".a":5,"a..b":6}]')).toBe(
      '3,4,5,6\n',
    )
  })
})

describe('keys', () => {
  test('any order, missing, unknown and doubled keys', () => {
    const rows = '[{"b":2,"a":1},{"x":[9],"a":3},{},{"a":4,"a":5,"b":"6"},{"b":7,"a":8}]'
    expect(transcode(['a', 'b'], rows)).toBe('1,2\n3,\n,\n5,"6"\n8,7\n')
  })

  test('a key may be written with escapes', () => {
    expect(transcode(['油站', 'a\\b'], String.raw`[{"\u6cb9\u7ad9":1,"a\\b":2,"a\b":3}]`)).toBe('1,2\n')
  })

  test('blanks anywhere, also when they change from row to row', () => {
    const rows = '[ { "a" : 1 , "b" :\t2 } ,\r\n{ "a" : 3 , "b" :\t4 },{"a":5, "b":6 }\n]'
    expect(transcode(['a', 'b'], rows)).toBe('1,2\n3,4\n5,6\n')
  })

  test('a key may be longer than anybody would think', () => {
    const row = (value: number) => `{"a":${value},"${'k'.repeat(2_000_000)}":0,"b":2}`
    expect(transcode(['a', 'b'], `[${row(1)},${row(3)}]`)).toBe('1,2\n3,2\n')
  })

  test('a field asked for twice is written twice', () => {
    expect(transcode(['a', 'b', 'a'], '[{"a":1,"b":2},{"a":3,"b":4}]')).toBe('1,2,1\n3,4,3\n')
  })

  test('rows in ever new orders come out right', () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => {
      const pairs = [`"a":${index}`, `"b":"${index}"`, `"k${index % 40}":0`]
      return `{${[...pairs.slice(index % 3), ...pairs.slice(0, index % 3)].join()}}`
    })
    const wanted = rows.map((_, index) => `${index},"${index}"\n`).join('')
    expect(transcode(['a', 'b'], `[${rows.join()}]`)).toBe(wanted)
  })
})

test('any JSON rows come back the same', () => {
  const name = fc.oneof(
    fc.constantFrom('id', 'name', 'a"b', '中', '__proto__', ''),
    fc.string({ unit: 'grapheme' }),
  )
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.jsonValue({ noUnicodeString: false }),
  )
  const table = fc.array(name, { minLength: 1, maxLength: 6 }).chain((names) =>
    fc.record({
      fields: fc.uniqueArray(fc.oneof(fc.constantFrom(...names), name), { maxLength: 6 }),
      rows: fc.array(fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 8 }), {
        maxLength: 12,
      }),
      indent: fc.constantFrom('', ' ', '\n\t'),
      cut: fc.nat(),
    }),
  )
  fc.assert(
    fc.property(table, ({ fields, rows, indent, cut }) => {
      fc.pre(fields.length > 0)
      const texts = rows.map(
        (row) =>
          `{${row.map(([key, cell]) => `${JSON.stringify(key)}:${indent}${JSON.stringify(cell)}`).join(`,${indent}`)}}`,
      )
      const half = cut % (rows.length + 1)
      const pages = [texts.slice(0, half), texts.slice(half)].map(
        (part) => `[${indent}${part.join()}${indent}]`,
      )
      const wanted = rows.map((row) => {
        const last = new Map(row)
        return fields.map((field) => expectedValue(last.get(field)))
      })
      expect(readSpool(transcode(fields, ...pages))).toEqual(wanted)
    }),
    { numRuns: 300 },
  )
})

test('what JSON.parse refuses is refused, what it takes is taken', () => {
  const good = '[{"a":1.5e3,"b":"x\\u00e9\\n"},{"a":[{"c":null}],"b":true},{"b":"y","a":-0.1}]'
  const edit = fc.record({
    at: fc.nat({ max: good.length }),
    drop: fc.nat({ max: 3 }),
    put: fc.constantFrom(
      '',
      '"',
      ',',
      '}',
      ']',
      '{',
      '[',
      '0',
      '-',
      '.',
      'e',
      '\\',
      'u',
      ':',
      ' ',
      '\n',
      'null',
      '+',
    ),
  })
  const parses = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const isRows = (text: string): boolean => {
    const value: unknown = JSON.parse(text)
    return (
      Array.isArray(value) &&
      value.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row))
    )
  }
  fc.assert(
    fc.property(edit, ({ at, drop, put }) => {
      const text = good.slice(0, at) + put + good.slice(at + drop)
      const trimmed = text.trimStart().trimEnd()
      if (parses(trimmed) && isRows(trimmed)) transcode(['a', 'b'], trimmed)
      else expect(() => transcode(['a', 'b'], trimmed)).toThrow()
    }),
    { numRuns: 3_000 },
  )
})

test('a fault says where it is', () => {
  expect(() => transcode(['a'], '[{"a":1},{"a":01}]')).toThrow(/at byte 15/)
})

test('slices end with records, and add up', () => {
  const sink = new SegmentBuffer(undefined, { sliceBytes: 100 })
  const transcoder = new RowTranscoder({ fields: ['a'] }, [sink])
  const page = pageBytes(
    `[${Array.from({ length: 200 }, (_, row) => `{"a":"${'x'.repeat(row % 7)}"}`).join()}]`,
  )
  for (let round = 0; round < 3; round++) {
    transcoder.startPage(200)
    transcoder.rows(page, 0, page.length - PAGE_MARGIN, 0)
    if (round === 1) sink.written()
  }
  const slices = sink.slices()
  let offset = 0
  for (const slice of slices) {
    expect(slice.offset).toBe(offset)
    offset += slice.bytes
  }
  expect(offset).toBe(sink.size)
  expect(slices.reduce((sum, slice) => sum + slice.rows, 0)).toBe(600)
  expect(slices.slice(0, -1).every((slice) => slice.bytes >= 100 && slice.bytes < 110)).toBe(true)
})

test('widths count wide characters twice and capitals by their width, take the longest line, and end at 60', () => {
  const sink = new SegmentBuffer()
  const transcoder = new RowTranscoder({ fields: ['a', 'b', 'c', 'd', 'e', 'f'] }, [sink])
  const page = pageBytes(
    JSON.stringify([
      {
        a: '中文ab',
        b: 12.25,
        c: 'one\nlonger line\nx',
        d: '字'.repeat(100),
        e: 'a"b',
        f: 'a little bit of it',
      },
      { a: 'abc', b: 1, c: '', d: '', e: null, f: 'WAREHOUSE MANAGER' },
    ]),
  )
  transcoder.startPage(2)
  transcoder.rows(page, 0, page.length - PAGE_MARGIN, 0)
  expect([...transcoder.widths]).toEqual([6, 5, 11, 60, 3, 22])
})
