import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERRORS } from '../../src/kernel/index.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const documented = new Map(
  [...page.matchAll(/^\| `([A-Z0-9_]+)` +\| (\d+) +\|/gm)].map(([, code, http]) => [code, Number(http)]),
)

test('every error code is documented with its HTTP status', () => {
  for (const { code, http } of Object.values(ERRORS))
    expect([code, documented.get(code)]).toEqual([code, http])
})

test('every documented error code exists', () => {
  const known = new Set(Object.values(ERRORS).map(({ code }) => code as string))
  expect([...documented.keys()].filter((code) => !known.has(code as string))).toEqual([])
})
