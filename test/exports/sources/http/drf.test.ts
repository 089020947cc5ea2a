import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { spawnBound } from '../../../support/bound-process.ts'
import { requirePython } from '../../../support/find-binary.ts'
import { columnOf, exportSource } from './export-source.ts'

const PYTHON = requirePython('django, rest_framework')
if (!PYTHON)
  console.error('!!! SKIPPED: Django REST framework. Debian: apt-get install python3-djangorestframework')

async function startDrf(): Promise<string> {
  const script = new URL('./drf-server.py', import.meta.url).pathname
  const child = spawnBound(PYTHON ?? '', [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const [port] = (await once(child.stdout!, 'data')) as [Buffer]
  return `http://127.0.0.1:${port.toString().trim()}`
}

describe.skipIf(!PYTHON)('Django REST framework', () => {
  test('all of its paginations are read to the end, with the total where they have one', async () => {
    const origin = await startDrf()
    const ids = Array.from({ length: 230 }, (_, n) => String(n + 1))
    for (const [path, known] of [
      ['pages', true],
      ['limits', true],
      ['cursors', false],
    ] as const) {
      const totals: (number | null)[] = []
      const { lines, warnings } = await exportSource(
        { url: `${origin}/${path}/`, preset: 'drf' },
        {},
        {
          onProgress: ({ stage, total }) => stage === 'fetching' && totals.push(total),
        },
      )
      expect(columnOf(lines, 'id')).toEqual(ids)
      expect(warnings).toEqual([])
      expect(new Set(totals), path).toEqual(new Set([known ? 230 : null]))
    }
  })

  test('its own filters, another name for the page size and values inside of objects', async () => {
    const origin = await startDrf()
    const template = [{ name: 'id' }, { name: 'name' }, { name: 'amount' }, { name: 'customer.name' }]
    const url = `${origin}/limits/?open=1`
    const paging = { size_param: 'limit', size: 100 }
    const { lines, rows } = await exportSource({ url, preset: 'drf', paging }, { template })
    expect(rows).toBe(115)
    expect(lines[1]).toBe('2,"订单 2","2.50","Customer 2"')
  })
})
