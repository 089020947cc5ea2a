import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { counted, sizeInWords } from '../../src/kernel/index.ts'

test('a number comes with the form of its noun', () => {
  expect([0, 1, 2].map((count) => counted(count, 'row'))).toEqual(['0 rows', '1 row', '2 rows'])
  expect(counted(1, 'row is', 'rows are')).toBe('1 row is')
})

test('a size has the unit that suits it', () => {
  const sizes = [0, 1, 1_536, 1024 ** 2, 1.5 * 1024 ** 3]
  expect(sizes.map(sizeInWords)).toEqual(['0.0 KiB', '0.1 KiB', '1.5 KiB', '1.0 MiB', '1.5 GiB'])
})

const NOUNS =
  'rows|values|fields|lines|files|columns|placeholders|params|pages|keys|texts|times|seconds|tables'
/** Constants and figures that are never 1 by their name are left alone, and so are rates and pairs of nouns. */
const BARE = new RegExp(
  `\\$\\{(?!counted\\()([^{}]*[a-z][^{}]*)\\} (?:${NOUNS})\\b(?! (?:or|and|per)\\b)(?!/)`,
  'g',
)

test.each([
  ['`1 rows`', BARE],
  ['a size in other units than the console has', /\} [kMG]B\b/g],
])('no text of the sources says %s', (_, pattern) => {
  const root = join(import.meta.dirname, '../../src')
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      (readFileSync(join(root, name), 'utf8').match(pattern) ?? []).map((text) => `${name}: ${text}`),
    )
  expect(found).toEqual([])
})
