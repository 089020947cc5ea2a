import { onTestFinished } from 'vitest'
import { hashSecret, ProjectStore, Sealer } from '../../src/engine/index.ts'
import { HttpServer, type HttpServerOptions } from '../../src/http/index.ts'
import { type BackendName, openBackend, silentLog } from './backends.ts'

export const ADMIN_TOKEN = 'admin-token-for-tests'

/** A running HTTP server on a fresh ledger, and ways to ask it. */
export async function startHttp(name: BackendName = 'embedded', options: Partial<HttpServerOptions> = {}) {
  const backend = await openBackend(name)
  const ledger = await backend.openLedger()
  const sealer = new Sealer('a seal key for tests')
  const projects = new ProjectStore({ ledger, sealer })
  const server = new HttpServer(
    { ledger, projects, sealer, adminTokenHash: hashSecret(ADMIN_TOKEN), log: silentLog },
    { host: '127.0.0.1', port: 0, version: '0.0.0', rateLimit: { perSecond: 1000, burst: 3000 }, ...options },
  )
  await server.start()
  onTestFinished(async () => {
    await server.stop()
    await ledger.close()
    await backend.remove()
  })
  const ask = (method: string, path: string, { key, body, headers = {} }: Ask = {}) =>
    fetch(`${server.address}${path}`, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return { server, ledger, projects, backend, ask }
}

export interface Ask {
  key?: string
  body?: unknown
  headers?: Record<string, string>
}
