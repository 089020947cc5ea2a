import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indentJson } from '../../console/src/parts/text/indent-json.ts'

test('JSON is put in lines as a program would write it, whatever is in it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, space) => {
      expect(indentJson(JSON.stringify(value, null, space))).toBe(JSON.stringify(value, null, 2))
    }),
  )
})

test('keys keep their order and numbers their digits', () => {
  expect(indentJson('{"2":1.50,"1":{ },"a":[ ],"b":["x,{}:\\"",12345678901234567890]}')).toBe(
    '{\n  "2": 1.50,\n  "1": {},\n  "a": [],\n  "b": [\n    "x,{}:\\"",\n    12345678901234567890\n  ]\n}',
  )
})
