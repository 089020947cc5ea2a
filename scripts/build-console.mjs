// Builds the console into dist/console, unless what is there was built from the very same sources. Runs on Node 20 or
// newer; Vite itself runs on Node 24, the one that was installed with Wharf if need be. By itself: `node scripts/build-console.mjs`.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'dist', 'console', '.built-from')

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesBelow(path) : [path]
    })
    .sort()
}

function sourcesHash() {
  const hash = createHash('sha256')
  for (const file of [...filesBelow(join(root, 'console')), join(root, 'package-lock.json')]) {
    hash.update(`${relative(root, file).split(sep).join('/')}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}

export function buildConsole() {
  const wanted = sourcesHash()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.error('wharf: building the console')
  const modules = join(root, 'node_modules')
  const own = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  const vite = join(modules, 'vite', 'bin', 'vite.js')
  const args = [vite, 'build', '--config', join(root, 'console', 'vite.config.ts'), '--logLevel', 'warn']
  const isNew = Number(process.versions.node.split('.')[0]) >= 24
  const built = spawnSync(isNew ? process.execPath : own, args, {
    cwd: root,
    stdio: 'inherit',
    // Tests build it too, and must not get React's larger build for development.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  if (built.status !== 0) {
    console.error('wharf: the console could not be built; the lines above say why')
    process.exit(built.status ?? 1)
  }
  writeFileSync(stamp, wanted)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildConsole()
