import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { THREATS } from '../../scripts/threat-lines.ts'
import { markerOf, PAGE, pageWith, proofsOf, testNames, threatTables } from '../../scripts/threat-model.ts'

const all = testNames()
const lines = Object.values(THREATS).flat()

test('every line of the threat model is proven by a test, and by each of those it names', () => {
  const names = new Set(all.map(({ name }) => name))
  expect(lines.filter((line) => proofsOf(line, all).length === 0).map(({ id }) => id)).toEqual([])
  expect(lines.flatMap(({ tests = [] }) => tests.filter((name) => !names.has(name)))).toEqual([])
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length)
})

test('every marker in the name of a test belongs to a line', () => {
  const known = new Set(lines.map(({ id }) => id))
  const strange = all.filter((test) => markerOf(test) !== undefined && !known.has(markerOf(test) as string))
  expect(strange).toEqual([])
})

test('the page is what npm run threats writes', () => {
  const page = readFileSync(PAGE, 'utf8')
  expect(page).toBe(pageWith(threatTables(all), page))
})
