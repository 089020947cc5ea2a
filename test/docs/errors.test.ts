import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { documentedErrors } from '../../src/http/answers/errors-page.ts'
import { toProblem } from '../../src/http/answers/index.ts'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import { startHttp } from '../support/http.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const documented = new Map(documentedErrors(page).map(({ code, http }) => [code, Number(http)]))

test('every error code is documented with its HTTP status', () => {
  for (const { code, http } of Object.values(ERRORS))
    expect([code, documented.get(code)]).toEqual([code, http])
})

test('every documented error code exists', () => {
  const known = new Set(Object.values(ERRORS).map(({ code }) => code as string))
  const named = [...page.matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(([, code]) => code as string)
  expect(named.filter((code) => !known.has(code))).toEqual([])
  expect(named).toEqual([...documented.keys()])
})

test('the type of every problem leads to the place of its code, also where the API reference is off', async () => {
  const { ask } = await startHttp('embedded', { env: { WHARF_DOCS: 'off' } })
  const pages = new Map<string, string>()
  for (const kind of Object.values(ERRORS)) {
    const [path = '', place] = toProblem(new AppError(kind, 'so'), '1').type.split('#')
    if (!pages.has(path)) {
      const answer = await ask('GET', path)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toContain('text/html')
      pages.set(path, await answer.text())
    }
    expect(pages.get(path)).toContain(`<section id="${place}"><h2>${kind.code} <small>${kind.http}</small>`)
  }
})
