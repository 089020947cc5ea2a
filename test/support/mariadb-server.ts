import { execFileSync } from 'node:child_process'
import { chownSync } from 'node:fs'
import { join } from 'node:path'
import { boundFolder, end, removeFolder, spawnBound, untilPrinted } from './bound-process.ts'
import { requireBinary } from './find-binary.ts'
import type { Launcher } from './fronted-server.ts'
import { onFreePort } from './on-free-port.ts'
import { unprivilegedUser } from './unprivileged-user.ts'

/** Makes an empty MariaDB, and answers how to start a server on it; undefined where the machine has none and cannot get one. */
export function prepareMariadb(): Launcher | undefined {
  const binary = requireBinary('mariadbd')
  const installer = requireBinary('mariadb-install-db')
  if (!binary || !installer || !requireBinary('my_print_defaults')) return undefined
  const user = unprivilegedUser()
  const folder = boundFolder('wharf-mariadb-')
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const options = { stdio: 'ignore', ...user, cwd: folder } as const
  const install = [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ]
  execFileSync(installer, install, options)
  const start = async (port: number) => {
    const settings = {
      datadir: data,
      port,
      'bind-address': '127.0.0.1',
      socket: join(folder, 'socket'),
      'pid-file': join(folder, 'pid'),
      'innodb-flush-log-at-trx-commit': 0,
      'secure-file-priv': '',
    }
    const args = ['--no-defaults', ...Object.entries(settings).map(([key, value]) => `--${key}=${value}`)]
    const child = spawnBound(binary, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    if (!(await untilPrinted(child, 'ready for connections'))) return undefined
    return { port, stop: () => end(child, 'SIGKILL'), child }
  }
  return { start: () => onFreePort(start), clean: () => removeFolder(folder) }
}
