import type { IncomingMessage } from 'node:http'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Where callers reach this server, and whether a request comes from a page of its own. */
export class OwnOrigin {
  readonly #proxies: TrustedProxies
  readonly #public: URL | null

  constructor(proxies: TrustedProxies, publicUrl: string | null) {
    this.#proxies = proxies
    this.#public = publicUrl === null ? null : new URL(publicUrl)
  }

  /** What addresses begin with that are handed out. */
  baseFor(request: IncomingMessage): string | undefined {
    return this.#public?.href.replace(/\/+$/, '') ?? this.#proxies.originOf(request)
  }

  /** Whether the browser speaks TLS, also through a proxy that is not named as trusted. */
  isSecure(request: IncomingMessage): boolean {
    const asked = URL.parse(this.#proxies.originOf(request) ?? '')
    if (asked?.protocol === 'https:') return true
    return this.#public?.protocol === 'https:' && this.#public.hostname === asked?.hostname
  }

  /**
   * Whether a page of this server asks. Browsers say so in `Sec-Fetch-Site`, which no page can set; over plain HTTP they leave
   * it out, and `Origin` says it. A request with neither is not from a page of today's browsers.
   */
  isOwnPage(request: IncomingMessage): boolean {
    const site = request.headers['sec-fetch-site']
    if (site !== undefined) return site === 'same-origin'
    const origin = URL.parse(request.headers.origin ?? '')
    if (origin === null) return false
    return (
      origin.origin === this.#public?.origin ||
      origin.host === URL.parse(this.#proxies.originOf(request) ?? '')?.host
    )
  }
}
