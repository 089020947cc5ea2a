import { expect, test } from 'vitest'
import { readWarning } from '../../console/src/api/export-texts.ts'
import { misfitWarnings } from '../../src/exports/sheet/index.ts'

test.each([1, 2_000])('the console understands what the server says of columns, of %i values', (count) => {
  const name = 'a "quoted" name'
  const column = { name, type: 'integer' as const, misfits: 0, long: 0, rounded: 0, escaped: 0 }
  const said = [
    { misfits: count },
    { misfits: count, long: count },
    { rounded: count },
    { escaped: count },
  ].map((counts) => readWarning(misfitWarnings([{ ...column, ...counts }])[0] ?? '') ?? undefined)
  expect(said).toEqual([
    { kind: 'misfit', name, count, type: 'integer' },
    { kind: 'long', name, count, type: '' },
    { kind: 'rounded', name, count, type: '' },
    { kind: 'escaped', name, count, type: '' },
  ])
  expect(readWarning('the total changed')).toBeNull()
})
