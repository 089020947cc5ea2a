import { readFileSync, statSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'

interface Chunk {
  file: string
  imports?: string[]
  dynamicImports?: string[]
}

const FOLDER = new URL('../../dist/console/', import.meta.url)
const BUDGET = 270_000

/** What a browser has loaded when these modules run: they themselves and all they import, gzipped. */
function scriptBytes(manifest: Record<string, Chunk>, names: readonly string[]): number {
  const seen = new Set<string>()
  const visit = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    for (const next of manifest[name]?.imports ?? []) visit(next)
  }
  for (const name of names) visit(name)
  return [...seen].reduce(
    (sum, name) => sum + statSync(new URL(`${manifest[name]?.file}.gz`, FOLDER)).size,
    0,
  )
}

describe('the script of the first view', () => {
  let manifest: Record<string, Chunk>

  beforeAll(() => {
    manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', FOLDER), 'utf8'))
  })

  test.each(['en', 'zh'])('signing in takes less than 270 kB (%s)', (language) => {
    expect(scriptBytes(manifest, ['index.html', `src/i18n/${language}/index.ts`])).toBeLessThan(BUDGET)
  })

  test('so does the list of exports, for whoever is signed in', () => {
    const modules = [
      'index.html',
      'src/i18n/zh/index.ts',
      'src/frame/frame.tsx',
      'src/pages/exports/routes.tsx',
    ]
    for (const name of modules) expect(manifest).toHaveProperty([name])
    expect(scriptBytes(manifest, modules)).toBeLessThan(BUDGET)
  })
})
