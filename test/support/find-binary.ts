import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Looks on the PATH and where Debian keeps servers, PostgreSQL's among them. */
export function findBinary(name: string): string | undefined {
  const postgres = '/usr/lib/postgresql'
  const versions = existsSync(postgres) ? readdirSync(postgres).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin',
    ...versions.map((v) => join(postgres, v, 'bin')),
  ]
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/** Programs that tests use, and the Debian packages that bring them. */
const PROGRAMS = {
  'chromium-headless-shell': ['chromium-headless-shell'],
  ffmpeg: ['ffmpeg'],
  mariadbd: ['mariadb-server-core'],
  'mariadb-install-db': ['mariadb-server-core'],
  my_print_defaults: ['mariadb-client-core'],
  nginx: ['nginx-light'],
  openssl: ['openssl'],
  pdftoppm: ['poppler-utils'],
  postgres: ['postgresql'],
  promtool: ['prometheus'],
  protoc: ['protobuf-compiler'],
  'redis-cli': ['redis-tools'],
  'redis-server': ['redis-server'],
  soffice: ['libreoffice-calc'],
  'systemd-analyze': ['systemd'],
} satisfies Record<string, string[]>

/** The same for modules of Python. */
const MODULES = {
  openpyxl: ['python3-openpyxl'],
  'django, rest_framework': ['python3-django', 'python3-djangorestframework'],
  'grpc, google.protobuf': ['python3-grpcio', 'python3-protobuf'],
} satisfies Record<string, string[]>

/** The same for fonts, of the golden pictures. */
const FONTS = {
  '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf': ['fonts-dejavu-core'],
  '/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf': ['fonts-droid-fallback'],
} satisfies Record<string, string[]>

type Program = keyof typeof PROGRAMS
type Modules = keyof typeof MODULES

/** The path of a program, installed first if need be; undefined when it cannot be had. */
export function requireBinary(name: Program): string | undefined {
  return findBinary(name) ?? (install(PROGRAMS[name]) ? findBinary(name) : undefined)
}

/** A Python 3 that has these modules, installed first if need be; undefined when it cannot be had. */
export function requirePython(modules: Modules): string | undefined {
  return findPython(modules) ?? (install(MODULES[modules]) ? findPython(modules) : undefined)
}

/**
 * Before any test runs, in one go. A program is on the disk before its package is complete: a test that finds it while
 * another one installs it would use half of it.
 */
export default function installMissing(): void {
  const missing = [
    ...Object.entries(PROGRAMS).filter(([name]) => !findBinary(name)),
    ...Object.entries(MODULES).filter(([modules]) => !findPython(modules)),
    ...Object.entries(FONTS).filter(([file]) => !existsSync(file)),
  ]
  if (missing.length > 0) install([...new Set(missing.flatMap(([, packages]) => packages))])
}

/** Another Python often comes before the system's in PATH, and only the system's has Debian's packages. */
function findPython(modules: string): string | undefined {
  const has = (python: string) => spawnSync(python, ['-c', `import ${modules}`]).status === 0
  return ['python3', '/usr/bin/python3'].find(has)
}

/** Where that is possible without asking anybody: on Debian, as root. */
function install(packages: string[]): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return false
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const
  // Two runs of the tests may want something at once: the second waits for the first.
  const apt = ['-qq', '-o', 'DPkg::Lock::Timeout=600']
  const run = () =>
    spawnSync('apt-get', [...apt, 'install', '-y', '--no-install-recommends', ...packages], options)
  console.error(`tests: installing ${packages.join(', ')} with apt-get (once)`)
  if (run().status === 0) return true
  spawnSync('apt-get', [...apt, 'update'], options)
  return run().status === 0
}
