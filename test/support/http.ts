import { onTestFinished } from 'vitest'
import { DOMAINS, type DomainTable } from '../../src/app/domains/domain-table.ts'
import { startWharf } from '../../src/app/serve.ts'
import { loadConfig } from '../../src/config.ts'
import type { Clock } from '../../src/kernel/index.ts'
import { type Backend, type BackendName, openBackend } from './backends.ts'
import { patient } from './databases.ts'

export const ADMIN_TOKEN = 'admin-token-for-tests'

export interface HttpOptions {
  env?: Record<string, string>
  clock?: Clock
  /** Domains besides Wharf's own. */
  domains?: DomainTable
  /** To start a second instance on the same ground. */
  backend?: Backend
}

export interface Ask {
  key?: string
  body?: unknown
  headers?: Record<string, string>
}

/** Asks whatever listens at this address then. */
export function asking(address: () => string) {
  return (method: string, path: string, { key, body, headers = {} }: Ask = {}) =>
    fetch(path.startsWith('http') ? path : `${address()}${path}`, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
}

/** A whole Wharf in this process, on a fresh ledger, and ways to ask it. */
export async function startHttp(name: BackendName = 'embedded', options: HttpOptions = {}) {
  const backend = options.backend ?? (await openBackend(name))
  const { DATABASE_URL } = backend.env
  const config = loadConfig({
    ...backend.env,
    ...(DATABASE_URL && { DATABASE_URL: patient(DATABASE_URL) }),
    WHARF_PORT: '0',
    TASK_GRPC_PORT: '0',
    WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
    WHARF_LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    WHARF_RATE_LIMIT: '10000/s',
    WHARF_DRAIN_SECONDS: '0',
    ...options.env,
  })
  const wharf = await startWharf(config, options.clock, { ...DOMAINS, ...options.domains })
  let stopped = false
  const stop = async () => {
    if (!stopped) await wharf.stop()
    stopped = true
  }
  onTestFinished(async () => {
    await stop()
    if (!options.backend) await backend.remove()
  })
  const ask = asking(() => wharf.address)
  const { address, metricsAddress, engine, projects, sessions, apis } = wharf
  const { grpcAddress } = apis.processing
  const { exports, saved } = apis.exports
  return {
    address,
    metricsAddress,
    grpcAddress,
    engine,
    projects,
    sessions,
    exports,
    saved,
    ledger: engine.ledger,
    backend,
    config,
    ask,
    stop,
  }
}

/** A project of its own, with a key. */
export async function newProject({
  ask,
}: {
  ask: (method: string, path: string, ask: Ask) => Promise<Response>
}) {
  const answer = await ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'test' } })
  const made = (await answer.json()) as { project_id: string; api_key: string; webhook_secret: string }
  return { id: made.project_id, key: made.api_key, secret: made.webhook_secret }
}
