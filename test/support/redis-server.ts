import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { requireBinary } from './find-binary.ts'
import { freePort } from './free-port.ts'
import { end, type Server } from './postgres-server.ts'

export interface RedisServer extends Server {
  /** It answers nothing from here on, and closes no connection. */
  hang(): void
  goOn(): void
}

/** A Redis of its own on a free loopback port, with no persistence: it forgets everything at a restart. */
export async function startRedis(): Promise<RedisServer | undefined> {
  const binary = requireBinary('redis-server', ['redis-server'])
  if (!binary) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'wharf-redis-'))
  const port = await freePort()
  let child: ChildProcess | undefined
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ]
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}/0`,
    async start() {
      child = spawn(binary, args, { stdio: 'ignore' })
      await untilReady(port)
    },
    hang: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
    async stop() {
      server.goOn()
      await end(child, 'SIGTERM')
      child = undefined
    },
    async remove() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  // Not a gentler one: while it hangs it hears no other.
  process.once('exit', () => child?.kill('SIGKILL'))
  await server.start()
  return server
}

async function untilReady(port: number): Promise<void> {
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: (times) => (times > 200 ? null : 50) })
  redis.on('error', () => undefined)
  try {
    await redis.ping()
  } finally {
    redis.disconnect()
  }
}
