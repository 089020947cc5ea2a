import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlOf } from '../../console/src/api/export-drafts.ts'
import { toRequest, writeRequest } from '../../console/src/pages/exports/make/request/to-request.ts'

test('a request copied as curl says the same in a shell, whatever is in it, and holds no key', () => {
  const title = `it's "quoted" $HOME \`x\` \\ 汉`
  const fields = {
    kind: 'address' as const,
    source_url: 'http://shop.example/a?b=1&c=2',
    type: 'excel' as const,
    title,
  }
  const json = writeRequest(toRequest(fields, '{"2": "b", "1": "a"}', null))
  const text = curlOf(json, 'https://wharf.example')
  const shell = `curl() { printf '%s\\0' "$@"; }; ${text}`
  const [url, , authorization, , type, , body] = execFileSync('sh', ['-c', shell], {
    env: { WHARF_KEY: 'k' },
  })
    .toString()
    .split('\0')
  expect([url, authorization, type]).toEqual([
    'https://wharf.example/api/exports',
    'Authorization: Bearer k',
    'Content-Type: application/json',
  ])
  expect(body).toBe(json)
  // As it was typed: parsed and written again, its keys would be sorted.
  expect(body).toContain('"template":{"2": "b", "1": "a"}')
  expect(JSON.parse(body ?? '')).toMatchObject({ source_url: fields.source_url, title })
})
