import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { scripts } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
  scripts: Record<string, string>
}
/** Those that people run, and not what npm runs before them. */
const programs = Object.entries(scripts).flatMap(([name, command]) => {
  const file = /^node ((?:scripts|bench)\/\S+)$/.exec(command)?.[1]
  const isBefore = name.startsWith('pre') && Object.hasOwn(scripts, name.slice(3))
  return file && !isBefore ? [{ name, file }] : []
})

test.each(programs)('npm run $name -- --help says what it does, and does nothing', ({ name, file }) => {
  const told = execFileSync(process.execPath, [file, '--help'], { cwd: ROOT, encoding: 'utf8' })
  expect(told).toMatch(new RegExp(`^usage: npm run ${name}\\b`, 'i'))
})

test('scripts that people run are found by what package.json says', () => {
  expect(programs.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['bench', 'chaos', 'cluster', 'fuzz', 'lock', 'pictures', 'threats']),
  )
})
