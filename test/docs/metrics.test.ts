import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'
import { Scrape } from '../support/metrics.ts'

const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')

interface Documented {
  name: string
  type: string
  labels: string[]
}

/** The rows of the tables: names, type, labels. */
const documented: Documented[] = [...page.matchAll(/^\| (`[^|]+) \| (\w+)[^|]* \|([^|]*)\|/gm)].flatMap(
  ([, names = '', type = '', labels = '']) =>
    quoted(names).map((name) => ({ name, type, labels: quoted(labels) })),
)

function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
}

async function scrape(): Promise<Scrape> {
  const { ask } = await startHttp()
  await ask('GET', '/livez')
  return new Scrape(await (await ask('GET', '/metrics', { key: ADMIN_TOKEN })).text())
}

test('every kind of job is named, here and among the spans', async () => {
  const { engine } = await startHttp()
  const kinds = engine.kinds.map(({ name }) => name).sort()
  const [, listed = ''] = /`kind` is a kind of job \(([^)]*)\)/.exec(page) ?? []
  expect(quoted(listed).sort()).toEqual(kinds)
  const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const spans = [...operations.matchAll(/`job ([\w-]+)`/g)].map(([, kind]) => kind)
  expect(spans.sort()).toEqual(kinds)
})

test('every metric is documented with its type, and every documented one exists', async () => {
  const { types } = await scrape()
  expect(documented.map(({ name, type }) => [name, type]).sort()).toEqual([...types].sort())
})

test('samples have the documented labels and no others', async () => {
  const { samples, types } = await scrape()
  for (const { name, labels } of samples) {
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
    const own = documented.find((metric) => metric.name === family)
    const seen = Object.keys(labels).filter((label) => label !== 'le')
    expect([name, seen.sort()]).toEqual([name, own?.labels.toSorted()])
  }
})
