import { expect, test } from 'vitest'
import { locateJson } from '../../console/src/pages/exports/sheet/locate-json.ts'

const TEXT = `{ "ceil": [ {"name": "a \\"]", "title": "A"},
  {"title": "Money", "children": [{"name": "b", "type": "colour"}, 12.50 ]} ], "row": [] }`

test.each([
  ['', TEXT],
  ['.ceil[0].name', '"a \\"]"'],
  ['ceil[1].children[0].type', '"colour"'],
  ['.ceil[1].children[1]', '12.50'],
  ['.row', '[]'],
  ['.ceil[1].children[0].missing', '{"name": "b", "type": "colour"}'],
  ['.ceil[7]', TEXT.slice(TEXT.indexOf('['), TEXT.indexOf(', "row"'))],
])('%s is found in the text', (path, found) => {
  const { from, to } = locateJson(TEXT, path)
  expect(TEXT.slice(from, to)).toBe(found)
})
