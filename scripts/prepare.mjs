// Runs before `npm start`, `npm test` and `npm run bench`, on whatever Node the machine has (20 or newer) and before
// anything is installed: it may use nothing but Node itself. Every step is skipped when its result is already there.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole } from './build-console.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const modules = join(root, 'node_modules')
const stamp = join(modules, '.wharf-installed')
const isWindows = process.platform === 'win32'
const nodeBinary = join(modules, 'node', 'bin', isWindows ? 'node.exe' : 'node')

function npm(...args) {
  const done = spawnSync(isWindows ? 'npm.cmd' : 'npm', args, {
    cwd: root,
    stdio: 'inherit',
    shell: isWindows,
  })
  if (done.status !== 0) {
    console.error(`wharf: 'npm ${args.join(' ')}' failed; the lines above say why`)
    process.exit(done.status ?? 1)
  }
}

function installDependencies() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.error('wharf: installing dependencies (once)')
  npm('ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error')
  writeFileSync(stamp, wanted)
}

// `node@24` puts its binary in place with an install script. Where scripts are switched off, the platform's own
// package brings the same binary without one.
function installNode() {
  const runs = () => spawnSync(nodeBinary, ['--version']).status === 0
  if (runs()) return
  const { version } = JSON.parse(readFileSync(join(modules, 'node', 'package.json'), 'utf8'))
  const platform = isWindows ? 'win' : process.platform
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  const platformPackage = `${prefix}-${platform}-${process.arch}`
  npm('install', '--no-save', '--ignore-scripts', `${platformPackage}@${version}`)
  const binary = join(modules, platformPackage, 'bin', isWindows ? 'node.exe' : 'node')
  mkdirSync(dirname(nodeBinary), { recursive: true })
  copyFileSync(binary, nodeBinary)
  chmodSync(nodeBinary, 0o755)
  if (!runs()) {
    console.error(
      `wharf: no Node ${version} for ${platform}-${process.arch}; install Node 24 or newer and try again`,
    )
    process.exit(1)
  }
}

/** Only makes the first start quicker and smaller: should it fail, that start says why. */
function warmUp() {
  const warmed = join(modules, '.cache', 'wharf', '.warmed')
  // What was compiled counts only for files at the very same place.
  if (existsSync(warmed) && readFileSync(warmed, 'utf8') === root) return
  const script = join(root, 'scripts', 'warm-up.mjs')
  const { status } = spawnSync(nodeBinary, [script], { stdio: 'ignore', timeout: 60_000 })
  if (status === 0) writeFileSync(warmed, root)
}

installDependencies()
installNode()
// No script of package.json: npm would name it as one that an installed package wants to run.
await import('./link-bin.mjs')
buildConsole()
warmUp()
