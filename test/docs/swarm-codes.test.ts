import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RESULT } from '../../src/carriers/swarm/wire/index.ts'

test('docs/swarm.md explains every result code, and no other', () => {
  const text = readFileSync(new URL('../../docs/swarm.md', import.meta.url), 'utf8')
  const table = text.slice(text.indexOf('## Result codes'), text.indexOf('## Where it listens'))
  const documented = [...table.matchAll(/^\| (\d+) \|/gm)].map((match) => Number(match[1]))
  expect(documented.sort((a, b) => a - b)).toEqual(Object.values(RESULT).sort((a, b) => a - b))
})
