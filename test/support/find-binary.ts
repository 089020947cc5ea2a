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

/** Installs Debian packages where that is possible without asking anybody: on Debian, as root. */
export function installDebianPackages(packages: string[]): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return false
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const
  // Two test files may want something at once: the second waits for the first.
  const apt = ['-qq', '-o', 'DPkg::Lock::Timeout=600']
  const install = () =>
    spawnSync('apt-get', [...apt, 'install', '-y', '--no-install-recommends', ...packages], options)
  console.error(`tests: installing ${packages.join(', ')} with apt-get (once)`)
  if (install().status === 0) return true
  spawnSync('apt-get', [...apt, 'update'], options)
  return install().status === 0
}

/** The path of a program, installed first if need be; undefined when it cannot be had. */
export function requireBinary(name: string, packages: string[]): string | undefined {
  return findBinary(name) ?? (installDebianPackages(packages) ? findBinary(name) : undefined)
}
