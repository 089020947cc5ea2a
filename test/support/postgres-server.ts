import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { requireBinary } from './find-binary.ts'
import { freePort } from './free-port.ts'

export interface Server {
  url: string
  /** Ends it; what it kept stays for a later `start`. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Ends it and removes what it kept. */
  remove(): Promise<void>
}

export interface PostgresServerOptions {
  /** false: faster, and as safe as a test needs that never cuts the power. */
  fsync?: boolean
  settings?: Record<string, string>
}

/** A PostgreSQL of its own on a free loopback port, or undefined where the machine has none and cannot get one. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<Server | undefined> {
  const binary = requireBinary('postgres', ['postgresql'])
  if (!binary) return undefined
  const user = unprivilegedUser()
  const folder = mkdtempSync(join(tmpdir(), 'wharf-postgres-'))
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  execFileSync(
    join(dirname(binary), 'initdb'),
    ['-D', data, '-U', 'wharf', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    {
      stdio: 'ignore',
      ...user,
      cwd: folder,
    },
  )
  const port = await freePort()
  const url = `postgres://wharf@127.0.0.1:${port}/postgres`
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    max_connections: '400',
    fsync: options.fsync === false ? 'off' : 'on',
    ...options.settings,
  }
  const args = ['-D', data, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])]
  let child: ChildProcess | undefined
  const server: Server = {
    url,
    async start() {
      child = spawn(binary, args, { stdio: 'ignore', ...user, cwd: folder })
      await untilReady(url, child)
    },
    async stop() {
      await end(child, 'SIGINT')
      child = undefined
    },
    async remove() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  process.once('exit', () => child?.kill('SIGINT'))
  await server.start()
  return server
}

export async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {}
  }
  throw new Error("PostgreSQL does not run as root, and there is neither a user 'postgres' nor 'nobody'")
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (child.exitCode !== null || tries > 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
