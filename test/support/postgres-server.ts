import { execFileSync } from 'node:child_process'
import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { boundFolder, end, removeFolder, spawnBound, untilPrinted } from './bound-process.ts'
import { requireBinary } from './find-binary.ts'
import { type Launcher, type Server, startBehindFront } from './fronted-server.ts'
import { onFreePort } from './on-free-port.ts'
import { unprivilegedUser } from './unprivileged-user.ts'

export interface PostgresServerOptions {
  /** false: faster, and as safe as a test needs that never cuts the power. */
  fsync?: boolean
  settings?: Record<string, string>
}

export interface PostgresServer extends Server {
  /** Stops every process of it: it neither answers nor closes a connection. */
  hang(): void
  goOn(): void
}

/** A PostgreSQL of its own, or undefined where the machine has none and cannot get one. Its address outlives a stop. */
export async function startPostgres(
  options: PostgresServerOptions = {},
): Promise<PostgresServer | undefined> {
  const launch = preparePostgres(options)
  if (!launch) return undefined
  const server = await startBehindFront((port) => `postgres://wharf@127.0.0.1:${port}/postgres`, launch)
  const signal = (name: NodeJS.Signals) => {
    const pid = server.child()?.pid
    if (pid !== undefined) for (const process of [pid, ...childrenOf(pid)]) kill(process, name)
  }
  return { ...server, hang: () => signal('SIGSTOP'), goOn: () => signal('SIGCONT') }
}

function childrenOf(pid: number): number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return pids.trim().split(' ').filter(Boolean).map(Number)
}

/** One that has just ended is as good as stopped. */
function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {}
}

/** Makes an empty cluster of databases, and answers how to start a server on it. */
export function preparePostgres({
  fsync = true,
  settings = {},
}: PostgresServerOptions = {}): Launcher | undefined {
  const binary = requireBinary('postgres')
  if (!binary) return undefined
  const user = unprivilegedUser()
  const folder = boundFolder('wharf-postgres-')
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  execFileSync(
    join(dirname(binary), 'initdb'),
    ['-D', data, '-U', 'wharf', '-A', 'trust', '-E', 'UTF8', '--lc-messages=C', '--no-sync'],
    { stdio: 'ignore', ...user, cwd: folder },
  )
  // Everyone is let in, but for the members of a role that a test may make.
  const hba = join(data, 'pg_hba.conf')
  writeFileSync(hba, `host all +by_password all scram-sha-256\n${readFileSync(hba, 'utf8')}`)
  const start = async (port: number) => {
    const all: Record<string, string> = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: folder,
      // As many files as there are workers use it at once, each with several instances and processes.
      max_connections: '1000',
      fsync: fsync ? 'on' : 'off',
      ...settings,
    }
    const args = ['-D', data, ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])]
    const child = spawnBound(binary, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...user,
      cwd: folder,
      last: 'SIGQUIT',
    })
    if (!(await untilPrinted(child, 'ready to accept connections'))) return undefined
    // SIGQUIT: every process of it exits at once and leaves the recovery to the next start.
    return { port, stop: () => end(child, 'SIGINT'), crash: () => end(child, 'SIGQUIT'), child }
  }
  return { start: () => onFreePort(start), clean: () => removeFolder(folder) }
}
