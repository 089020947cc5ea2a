import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readLock } from '../../scripts/sbom.ts'
import { end, spawnBound, untilPrinted } from '../support/bound-process.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown> & {
  dependencies: Record<string, string>
  scripts: Record<string, string>
}

/** What a production install on this kind of machine brings: no development dependencies, nothing for other platforms. */
const production = Object.entries(
  readLock().packages as Record<string, { dev?: boolean; devOptional?: boolean; os?: string[] }>,
)
  .filter(
    ([path, { dev, devOptional, os }]) =>
      path !== '' && !dev && !devOptional && (os ?? ['linux']).includes('linux'),
  )
  .map(([path]) => path)

test('the package has docs, proto and deploy, and nothing of tests and benchmarks', () => {
  const packed = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ files, name }] = JSON.parse(packed.stdout) as [{ name: string; files: { path: string }[] }]
  expect(name).toBe('@wharf/server')
  const folders = new Set(files.map(({ path }) => path.split('/')[0]))
  for (const wanted of [
    'bin',
    'deploy',
    'docs',
    'proto',
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    '.env.example',
  ])
    expect([...folders]).toContain(wanted)
  // compose.yaml builds an image, for which the package has no sources.
  for (const never of ['bench', 'test', 'console', 'src', 'scripts', 'compose.yaml'])
    expect([...folders]).not.toContain(never)
})

test('the manifest can be published, needs Node 24, and installs at most 190 packages', () => {
  expect(manifest).toMatchObject({ name: '@wharf/server', engines: { node: '>=24' } })
  expect(manifest.private).toBeUndefined()
  expect(manifest.optionalDependencies).toBeUndefined()
  const hooks = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']
  expect(hooks.filter((hook) => hook in manifest.scripts)).toEqual([])
  expect(production.length).toBeLessThanOrEqual(190)
})

/** What `du` counts: whole blocks, folders included; without packages inside it. */
function spaceOf(path: string): number {
  const { blocks } = lstatSync(path)
  if (!lstatSync(path).isDirectory()) return blocks * 512
  const names = readdirSync(path).filter((name) => name !== 'node_modules')
  return names.reduce((space, name) => space + spaceOf(join(path, name)), blocks * 512)
}

test('a production install takes at most 110 MB of disk, the package included', () => {
  const packages = production.map((path) => join(ROOT, path)).filter((path) => existsSync(path))
  expect(packages.length).toBeGreaterThan(150)
  const own = ['bin', 'deploy', 'dist', 'docs', 'proto', 'src'].map((name) => join(ROOT, name))
  const space = [...packages, ...own].reduce((sum, folder) => sum + spaceOf(folder), 0)
  expect(space).toBeLessThan(110 * 2 ** 20)
})

test('an installed package serves on Node 24, and says in one line what an older one lacks', async () => {
  const folder = temporaryFolder()
  const installed = join(folder, 'node_modules', '@wharf', 'server')
  const compiled = spawnSync(
    join(ROOT, 'node_modules', '.bin', 'tsc'),
    ['-p', 'tsconfig.build.json', '--outDir', join(installed, 'dist')],
    { cwd: ROOT, encoding: 'utf8' },
  )
  expect(compiled.stdout).toBe('')
  for (const name of ['bin', 'proto', 'package.json'])
    cpSync(join(ROOT, name), join(installed, name), { recursive: true })
  cpSync(join(ROOT, 'src'), join(installed, 'dist'), {
    recursive: true,
    filter: (path) => !/\.(ts|md)$/.test(path),
  })
  for (const path of production.filter((path) => path.lastIndexOf('node_modules/') === 0)) {
    const from = join(ROOT, path)
    if (!existsSync(from)) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(from, join(folder, path))
  }
  const bin = join(installed, 'bin', 'wharf.mjs')
  const env = {
    PATH: process.env.PATH ?? '',
    WHARF_DATA_DIR: join(folder, 'data'),
    WHARF_PORT: '0',
    TASK_GRPC_PORT: '0',
  }
  const child = spawnBound(process.execPath, [bin, 'serve'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  expect(await untilPrinted(child, 'listening on http')).toBe(true)
  const health = spawnSync(process.execPath, [bin, 'health'], { cwd: folder, env, encoding: 'utf8' })
  expect([health.status, health.stdout]).toEqual([0, expect.stringContaining('"ready"')])
  await end(child, 'SIGTERM')
  const older = ['/usr/bin/node', '/usr/local/bin/node'].find(
    (node) =>
      existsSync(node) && !spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.startsWith('v24'),
  )
  if (older === undefined) return console.error('!!! SKIPPED: there is no older Node')
  const refused = spawnSync(older, [bin, 'serve'], { cwd: folder, env, encoding: 'utf8' })
  expect([refused.status, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toMatch(/^wharf needs Node 24 or newer, this is v\d+\.\d+\.\d+\n$/)
})
