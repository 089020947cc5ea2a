import { hostname, networkInterfaces } from 'node:os'
import type { Config } from '../../config.ts'
import type { Log } from '../../kernel/index.ts'

/** An address to listen on, at which nobody can be reached. */
function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/**
 * Where links lead: the public address of the settings; else the one that the caller asked under; else where this server
 * listens, unless that is every address at once. Null: nobody knows.
 */
export function linkBase(config: Config, listening: () => string, asked?: string): string | null {
  if (config.WHARF_PUBLIC_URL !== null) return config.WHARF_PUBLIC_URL.replace(/\/+$/, '')
  return asked ?? (isWildcard(config.WHARF_HOST) ? null : listening())
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
