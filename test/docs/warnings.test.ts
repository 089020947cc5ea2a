import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { WARNINGS } from '../../src/exports/warnings/index.ts'
import { SAMPLES } from '../exports/warnings/warning-samples.ts'

const page = readFileSync(new URL('../../docs/exports.md', import.meta.url), 'utf8')
const table = /### Warnings\n[\s\S]*?\n### /.exec(page)?.[0] ?? ''

test('every kind of warning is documented with its values, and every documented kind exists', () => {
  const rows = [...table.matchAll(/^\| (`[A-Z][^|]*) \| ([^|]*)\|/gm)]
  const documented = rows.flatMap(([, codes = '', values = '']) => {
    const named = [...values.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    return [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => [code as string, named.sort()] as const)
  })
  expect(documented.map(([code]) => code).sort()).toEqual(Object.keys(WARNINGS).sort())
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(Object.entries(SAMPLES).map(([code, [values]]) => [code, Object.keys(values).sort()])),
  )
})
