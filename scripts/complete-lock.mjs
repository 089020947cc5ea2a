// `npm run lock`, after a dependency changed: npm leaves optional platform packages out of package-lock.json when it
// could not look them up (a registry mirror may lack other platforms), and `npm ci` then refuses the lock file on every
// machine. This writes the missing entries from what their parents ask for, so that one lock file serves all platforms.
import { readFileSync, writeFileSync } from 'node:fs'

// What is installed may not be that of the lock file yet, so nothing of it is used.
if (process.argv.length > 2) {
  const isHelp = process.argv.every((arg, index) => index < 2 || arg === '--help' || arg === '-h')
  const usage =
    'Usage: npm run lock\n\nCompletes package-lock.json for all platforms, after a dependency changed.'
  console[isHelp ? 'log' : 'error'](usage)
  process.exit(isHelp ? 0 : 1)
}

const OS = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
  'aix',
]
const CPU = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el', 'wasm32']

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))

function platformOf(name) {
  const words = name.split(/[-/@]/)
  const os = OS.filter((known) => words.includes(known))
  const cpu = CPU.filter((known) =>
    words.some((word) => word === known || (known === 'arm' && word === 'armv7')),
  )
  const libc = name.includes('musl')
    ? ['musl']
    : name.includes('gnu') && !name.includes('gnueabihf')
      ? ['glibc']
      : []
  return { ...(libc.length && { libc }), ...(cpu.length && { cpu }), ...(os.length && { os }) }
}

let added = 0
for (const [path, entry] of Object.entries({ ...lock.packages })) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const found = [`${path}/node_modules/${name}`, `node_modules/${name}`].some(
      (place) => lock.packages[place],
    )
    if (found || !/^\d/.test(range)) continue
    lock.packages[`node_modules/${name}`] = {
      version: range,
      optional: true,
      ...(entry.dev && { dev: true }),
      ...platformOf(name),
    }
    added++
  }
}
const [rootEntry, ...rest] = Object.entries(lock.packages)
lock.packages = Object.fromEntries([rootEntry, ...rest.sort(([a], [b]) => a.localeCompare(b, 'en'))])
for (const entry of Object.values(lock.packages)) delete entry.resolved
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`package-lock.json: ${added} platform packages added`)
