import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlOf } from '../../console/src/api/export-drafts.ts'

test('a request copied as curl says the same in a shell, whatever is in it, and holds no key', () => {
  const title = `it's "quoted" $HOME \`x\` \\ 汉`
  const draft = {
    source_url: 'http://shop.example/a?b=1&c=2',
    type: 'csv' as const,
    title,
    template: '{"2": "b", "1": "a"}',
  }
  const text = curlOf(draft, 'https://wharf.example')
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
  expect(body).toBe(
    `${JSON.stringify({ source_url: draft.source_url, type: 'csv', title }).slice(0, -1)},"template":{"2": "b", "1": "a"}}`,
  )
})
