import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dependenciesOf, licencesOf, readLock, sbomOf } from '../../scripts/sbom.ts'

const lock = readLock()
const all = dependenciesOf(lock)
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

const GOOD = [
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
]

/** Builds for other platforms of a package that is known: the lock file has neither their hashes nor their licences. */
const isForeignBuild = (name: string) => name.startsWith('@msgpackr-extract/')

test('the SBOM names every production dependency with its hash and licence, and no other', () => {
  const { bomFormat, components } = sbomOf(lock)
  expect(bomFormat).toBe('CycloneDX')
  const names = new Set(components.map(({ name }) => name))
  expect(Object.keys(manifest.dependencies).filter((name) => !names.has(name))).toEqual([])
  for (const name of ['typescript', 'vitest', 'playwright-core']) expect(names.has(name), name).toBe(false)
  expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length)
  const unhashed = components.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes?.[0]?.content ?? ''))
  expect(unhashed.filter(({ name }) => !isForeignBuild(name))).toEqual([])
})

test('every licence is one that the package may be shipped with', () => {
  const isGood = (licence: string) =>
    licence.split(' OR ').some((one) => GOOD.includes(one.replace(/[()]/g, '')))
  const known = all.filter(({ name }) => !isForeignBuild(name))
  expect(known.filter(({ licence }) => licence === null || !isGood(licence))).toEqual([])
  expect(licencesOf(lock)).toContain('| fastify |')
})

test('production needs no install script', () => {
  // Both work without: one has a JavaScript fallback, the other only prints a warning about versions.
  const scripted = all.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
  expect(scripted).toEqual(['msgpackr-extract', 'protobufjs'])
})
