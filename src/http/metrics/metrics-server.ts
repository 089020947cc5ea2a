import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { matchesHash } from '../../tenancy/index.ts'
import type { Metrics } from './metrics.ts'

/** Who may read the metrics: they name routes, projects' work and the state of the installation. */
export interface MetricsAccess {
  /** SHA-256 of the tokens that open them; null: they are open. */
  tokenHashes: readonly string[] | null
  /** On a port of their own, and not on the server's; null: on the server's. */
  port: number | null
}

export function mayReadMetrics(authorization: string | undefined, { tokenHashes }: MetricsAccess): boolean {
  if (tokenHashes === null) return true
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  return tokenHashes.some((hash) => matchesHash(token, hash))
}

/** `/metrics` and nothing else, on its own port. */
export class MetricsServer {
  readonly #server: Server

  constructor(metrics: Metrics, access: MetricsAccess) {
    this.#server = createServer({ requestTimeout: 10_000 }, (request, response) => {
      if (request.url !== '/metrics' || request.method !== 'GET') return response.writeHead(404).end()
      if (!mayReadMetrics(request.headers.authorization, access))
        return response.writeHead(401, { 'WWW-Authenticate': 'Bearer realm="wharf metrics"' }).end()
      metrics.read().then(
        (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
        () => response.writeHead(503).end(),
      )
    })
  }

  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    }).catch((cause) => {
      const message = `cannot listen on ${host}:${port} (${cause.code}); set WHARF_METRICS_PORT to another port`
      throw new AppError(ERRORS.CONFIG_INVALID, message, { cause })
    })
    const shown = host.includes(':') ? `[${host}]` : host
    return `http://${shown}:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
