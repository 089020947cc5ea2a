import { hostname, networkInterfaces } from 'node:os'
import type { Config } from '../../config.ts'
import type { Log } from '../../kernel/index.ts'

/** An address to listen on that is no address to connect to. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** Where this server listens, which is known once it does. */
export class OwnAddress {
  readonly #config: Config
  /** undefined: it does not listen yet. */
  current: string | undefined

  constructor(config: Config) {
    this.#config = config
  }

  /**
   * Where links lead: the public address of the settings; else the one that the caller used; else where this server listens,
   * or will, unless that is every address at once. Null: unknown.
   */
  linkBase(used?: string): string | null {
    const { WHARF_PUBLIC_URL: publicUrl, WHARF_HOST: host, WHARF_PORT: port } = this.#config
    if (publicUrl !== null) return publicUrl.replace(/\/+$/, '')
    return used ?? (isWildcard(host) ? null : (this.current ?? `http://${host}:${port}`))
  }
}

export function warnOfUnknownAddress(config: Config, log: Log): void {
  if (config.isLoopback || config.WHARF_PUBLIC_URL !== null) return
  const where = isWildcard(config.WHARF_HOST) ? 'no link' : `links to ${config.WHARF_HOST}`
  if (config.WHARF_TRUST_PROXY.length === 0)
    log.warn(
      `WHARF_PUBLIC_URL is not set: callbacks carry ${where}; links in answers follow the Host of the request (behind a proxy, also set WHARF_TRUST_PROXY)`,
    )
}

/** The names of this server: as it listens, as the settings call it and, where it listens on all addresses, as the machine is called. */
export function ownOrigins(config: Config, listening: string): Set<string> {
  const { port } = new URL(listening)
  const names = [new URL(listening).hostname]
  if (config.isLoopback || isWildcard(config.WHARF_HOST)) names.push('localhost')
  if (isWildcard(config.WHARF_HOST))
    names.push(
      hostname(),
      ...Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
    )
  const origins = names.flatMap((name) => URL.parse(`http://${name}:${port}`)?.origin ?? [])
  const publicUrl = URL.parse(config.WHARF_PUBLIC_URL ?? '')
  return new Set([...origins, ...(publicUrl === null ? [] : [publicUrl.origin])])
}
