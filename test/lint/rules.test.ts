import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/wharf-process.ts'

const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

interface Report {
  diagnostics: { category: string; location: { path: string } }[]
}

/** Which rules of `biome.json` are broken by each of these, were it a file of this folder. */
function rulesBrokenBy(sources: string[], under = 'src'): string[][] {
  const folder = temporaryFolder()
  for (const path of ['biome.json', 'scripts/lint'])
    cpSync(fromRoot(path), join(folder, path), { recursive: true })
  mkdirSync(join(folder, under), { recursive: true })
  for (const [index, code] of sources.entries())
    writeFileSync(
      join(folder, under, `${index}.ts`),
      `export {}\ndeclare function work(): Promise<void>\n${code}\n`,
    )
  const linter = [fromRoot('node_modules/@biomejs/biome/bin/biome'), 'lint', '--vcs-enabled=false']
  const { stdout } = spawnSync(process.execPath, [...linter, '--reporter=json', 'src'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const { diagnostics } = JSON.parse(stdout) as Report
  return sources.map((_, index) =>
    diagnostics
      .filter(({ location }) => location.path.endsWith(`/${index}.ts`))
      .map(({ category }) => category.split('/').at(-1) ?? '')
      // The line that makes each of them a module.
      .filter((rule) => rule !== 'noUselessEmptyExport'),
  )
}

test('the linter refuses a promise that nobody waits for, and takes one that is handled', () => {
  const cases: [code: string, rules: string[]][] = [
    ['work()', ['noFloatingPromises']],
    ['work().finally(() => undefined)', ['noFloatingPromises']],
    ['setInterval(() => { work() }, 1)', ['noFloatingPromises']],
    ['void work()', ['noVoid']],
    ['const later = () => void work().catch(() => undefined)\nlater()', ['noVoid']],
    ['if (work()) throw new Error()', ['noMisusedPromises']],
    ['[1].forEach(async () => work())', ['noMisusedPromises']],
    ['work().catch(() => undefined)', ['plugin']],
    ['work().catch(() => undefined).finally(() => undefined)', ['plugin']],
    ['await work()\nawait work().catch(() => undefined)', []],
  ]
  expect(rulesBrokenBy(cases.map(([code]) => code))).toEqual(cases.map(([, rules]) => rules))
})

test('[host-user] the linter lets nobody but kernel/files create files or remove folders, nor start programs with the server’s environment', () => {
  const cases: [code: string, rules: string[]][] = [
    ["import { writeFile } from 'node:fs/promises'\nawait writeFile('a', 'b')", ['noRestrictedImports']],
    ["import { mkdirSync } from 'node:fs'\nmkdirSync('a')", ['noRestrictedImports']],
    ["import { open as create } from 'node:fs/promises'\nawait create('a', 'w')", ['noRestrictedImports']],
    ["import fs from 'node:fs'\nfs.mkdirSync('a')", ['noRestrictedImports']],
    ["import * as fs from 'node:fs'\nfs.mkdirSync('a')", ['noRestrictedImports']],
    ["import { spawn } from 'node:child_process'\nspawn('a')", ['noRestrictedImports']],
    ["import { readFile } from 'node:fs/promises'\nawait readFile('a')", []],
    ["import { chmod } from 'node:fs/promises'\nawait chmod('a', 0o600)", ['noRestrictedImports']],
    ["import { chownSync } from 'node:fs'\nchownSync('a', 1, 1)", ['noRestrictedImports']],
    ["import { rm } from 'node:fs/promises'\nawait rm('a', { recursive: true, force: true })", ['plugin']],
    ["import { rm } from 'node:fs/promises'\nawait rm('a', { force: true })", []],
  ]
  expect(rulesBrokenBy(cases.map(([code]) => code))).toEqual(cases.map(([, rules]) => rules))
})

test('[planted-link] the linter refuses to read or stat by path where other programs write', () => {
  const cases: [code: string, rules: string[]][] = [
    ["import { stat } from 'node:fs/promises'\nawait stat('a')", ['plugin']],
    ["import { readFile } from 'node:fs/promises'\nawait readFile('a', 'utf8')", ['plugin']],
    ["import { createReadStream } from 'node:fs'\ncreateReadStream('a')", ['plugin']],
    ["import { lstat } from 'node:fs/promises'\nawait lstat('a')", []],
    ['declare const handle: { stat(): Promise<void> }\nawait handle.stat()', []],
  ]
  for (const folder of ['src/processing', 'src/runs/files'])
    expect(
      rulesBrokenBy(
        cases.map(([code]) => code),
        folder,
      ),
    ).toEqual(cases.map(([, rules]) => rules))
})
