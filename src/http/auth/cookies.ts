import type { IncomingMessage } from 'node:http'
import type { OwnOrigin } from './own-origin.ts'

export interface CookieOptions {
  seconds: number
  /** `Lax` is sent when another site leads here, `Strict` only by pages of this one. */
  sameSite: 'Lax' | 'Strict'
}

/**
 * Cookies that no script can read. Over TLS their names begin with `__Host-`: a browser then takes them from this very host
 * alone, so that no neighbour in the domain can slip one in.
 */
export class Cookies {
  readonly #own: OwnOrigin

  constructor(own: OwnOrigin) {
    this.#own = own
  }

  read(request: IncomingMessage, name: string): string | undefined {
    const wanted = `${this.#nameFor(request, name)}=`
    const found = (request.headers.cookie ?? '').split(';').map((part) => part.trim())
    return found.find((part) => part.startsWith(wanted))?.slice(wanted.length)
  }

  /** The value of `Set-Cookie`. */
  write(request: IncomingMessage, name: string, value: string, options: CookieOptions): string {
    const secure = this.#own.isSecure(request) ? '; Secure' : ''
    const { seconds, sameSite } = options
    return `${this.#nameFor(request, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure}`
  }

  #nameFor(request: IncomingMessage, name: string): string {
    return this.#own.isSecure(request) ? `__Host-${name}` : name
  }
}

export const SESSION_COOKIE = 'wharf_session'
