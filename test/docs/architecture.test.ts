import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const page = readFileSync(new URL('docs/architecture.md', ROOT), 'utf8')

/** Titles of "Follow one request", with the most files that each may have. */
const MOST: Record<string, number> = {
  'POST /api/exports': 40,
  'POST /api/transfers': 30,
  'POST /api/runs': 20,
  CreateTask: 18,
}

const requests = [
  ...page.matchAll(/^\*\*`([^`]+)` to [^*]+\*\* \((\d+)\)\n([\s\S]*?)(?=\n\*\*`|\n## )/gm),
].map(([, title = '', count, text = '']) => ({
  title,
  count: Number(count),
  files: [...text.matchAll(/`([a-z0-9/-]+\.(?:ts|lua))`/g)].map(([, file]) => String(file)),
}))

test('"Follow one request" covers one request of every domain', () => {
  expect(requests.map(({ title }) => title)).toEqual(Object.keys(MOST))
})

test.each(requests)('the files of $title exist, and are few enough', ({ title, count, files }) => {
  expect(files.filter((file) => !existsSync(new URL(`src/${file}`, ROOT)))).toEqual([])
  expect(files).toHaveLength(count)
  expect(count).toBeLessThanOrEqual(MOST[title] ?? 0)
})

test('the files that decide on rules exist', () => {
  const rules = page.slice(page.indexOf('## Where a rule is'), page.indexOf('## Glossary'))
  const files = [...rules.matchAll(/`([a-z0-9/-]+\.ts)`/g)].map(([, file]) => String(file))
  expect(files.length).toBeGreaterThanOrEqual(10)
  expect(files.filter((file) => !existsSync(new URL(`src/${file}`, ROOT)))).toEqual([])
})

test('the glossary is short', () => {
  const glossary = page.slice(page.indexOf('## Glossary'))
  expect(glossary.match(/^\| (?!term|---)/gm)?.length).toBeLessThanOrEqual(15)
})
