import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import type { Config } from '../../config.ts'
import { type Log, loopbackOf } from '../../kernel/index.ts'

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

  /**
   * The one source that is always reachable: this Wharf's own samples, under each of its names, and nothing else of its own. It is
   * asked where the server listens: its public name may lead nowhere from here, or to a certificate that nobody knows here.
   */
  ownSample(url: URL): URL | undefined {
    if (!url.pathname.includes('/samples/')) return undefined
    const { WHARF_PUBLIC_URL: publicUrl, WHARF_HOST: host, WHARF_PORT: port } = this.#config
    // Work that goes on after a restart asks before the server listens, and then again.
    const listening = this.current ?? `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
    const bases = [...ownOrigins(this.#config, listening), ...(publicUrl === null ? [] : [publicUrl])]
    const base = bases.map((name) => new URL('samples/', `${name.replace(/\/+$/, '')}/`).href)
    const own = base.find((start) => url.href.startsWith(start))
    return own === undefined
      ? undefined
      : new URL(`/samples/${url.href.slice(own.length)}`, loopbackOf(listening))
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

/** The names of this server: as it listens and, where it listens on all addresses, as the machine is called. */
function ownOrigins(config: Config, listening: string): string[] {
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
  return names.flatMap((name) => URL.parse(`http://${name}:${port}`)?.origin ?? [])
}
