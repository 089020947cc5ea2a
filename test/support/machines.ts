import { randomBytes } from 'node:crypto'
import { inject, onTestFinished } from 'vitest'
import { startWharf } from '../../src/app/serve.ts'
import { loadConfig } from '../../src/config.ts'
import type { BackendName } from './backends.ts'
import { createDatabase } from './databases.ts'
import { ADMIN_TOKEN, asking } from './http.ts'
import { runWharf, serveWharf, temporaryFolder } from './wharf-process.ts'

let machines = 0

/** Settings of a machine on which Wharf never ran: an empty folder or database, a Redis without its keys. */
export async function emptyMachine(name: BackendName): Promise<Record<string, string>> {
  const folder = temporaryFolder()
  const common = {
    WHARF_DATA_DIR: folder,
    WHARF_RATE_LIMIT: '10000/s',
    WHARF_LEASE_SECONDS: '5',
    TASK_QUEUE_KEY: `q${randomBytes(4).toString('hex')}`,
  }
  if (name === 'embedded') return common
  const database = await createDatabase()
  onTestFinished(() => database.drop())
  // Another database of Redis each time: records of tasks have the same keys on each machine.
  const redis = new URL(inject('redisUrl') as string)
  redis.pathname = `/${1 + (machines++ % 15)}`
  const prefix = `t${randomBytes(4).toString('hex')}`
  const shared = { WHARF_SHARED_DIR: folder, WHARF_ADMIN_TOKEN: ADMIN_TOKEN }
  return {
    ...common,
    ...shared,
    DATABASE_URL: database.url,
    REDIS_URL: redis.href,
    WHARF_REDIS_PREFIX: prefix,
  }
}

/** A server process, and a way to ask it. */
export async function serveOn(env: Record<string, string>) {
  const server = await serveWharf(env)
  const ask = asking(() => server.address)
  const stop = async (signal: NodeJS.Signals) => {
    server.child.kill(signal)
    await server.exited
  }
  return { ...server, ask, stop }
}

/** The same in this process, which saves most of a start, where the test needs no process to lock out or to kill. */
export async function serveHere(env: Record<string, string>) {
  const wharf = await startWharf(
    loadConfig({ WHARF_PORT: '0', TASK_GRPC_PORT: '0', WHARF_LOG_LEVEL: 'silent', ...env }),
  )
  let running = true
  const stop = async () => {
    if (running) await wharf.stop()
    running = false
  }
  onTestFinished(stop)
  return { address: wharf.address, ask: asking(() => wharf.address), stop }
}

/** What a command says, and how it ended. */
export async function command(args: string[], env: Record<string, string>) {
  const { exited, output } = runWharf(args, env)
  const { code } = await exited
  return { code, ...output }
}
