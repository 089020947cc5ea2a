import type { IncomingMessage } from 'node:http'
import type { Sealer } from '../../tenancy/index.ts'
import type { Cookies } from '../auth/index.ts'
import type { Begun } from './identity-provider.ts'

/** A sign-in between its begin and the way back from the issuer. */
export interface PendingSignIn extends Begun {
  /** The page of this server to go on with. */
  to: string
}

const SECONDS = 600

/**
 * Remembers sign-ins in the browser that began them, sealed: nothing is stored here, any instance can finish one, and a
 * callback that another browser was led to finds nothing. One cookie each, so that two tabs can sign in at once.
 */
export class PendingSignIns {
  readonly #deps: { cookies: Cookies; sealer: Sealer }

  constructor(deps: { cookies: Cookies; sealer: Sealer }) {
    this.#deps = deps
  }

  /** The value of `Set-Cookie`. */
  keep(request: IncomingMessage, pending: PendingSignIn): string {
    const sealed = this.#deps.sealer.seal(JSON.stringify({ ...pending, until: Date.now() + SECONDS * 1000 }))
    return this.#write(request, pending.state, sealed, SECONDS)
  }

  find(request: IncomingMessage, state: string): PendingSignIn | undefined {
    const sealed = this.#deps.cookies.read(request, nameFor(state))
    if (sealed === undefined) return undefined
    try {
      const pending = JSON.parse(this.#deps.sealer.open(sealed)) as PendingSignIn & { until: number }
      return pending.state === state && Date.now() < pending.until ? pending : undefined
    } catch {
      return undefined
    }
  }

  forget(request: IncomingMessage, state: string): string {
    return this.#write(request, state, '', 0)
  }

  /** `Lax`: the issuer leads the browser back here. */
  #write(request: IncomingMessage, state: string, value: string, seconds: number): string {
    return this.#deps.cookies.write(request, nameFor(state), value, { seconds, sameSite: 'Lax' })
  }
}

function nameFor(state: string): string {
  return `wharf_login_${state.replace(/[^\w-]/g, '').slice(0, 12)}`
}

/** A page of this server, or its first one: nobody is led elsewhere by signing in. */
export function localPage(wanted: unknown): string {
  const url =
    typeof wanted === 'string' && LOCAL.test(wanted) ? URL.parse(wanted, 'http://wharf.invalid') : null
  if (url === null || url.origin !== 'http://wharf.invalid' || /^\/(?:auth|api)(?:\/|$)/.test(url.pathname))
    return '/'
  const page = `${url.pathname}${url.search}${url.hash}`
  // Once more: without its dots a path may begin with two slashes.
  return LOCAL.test(page) ? page : '/'
}

const LOCAL = /^\/(?![/\\])[^\\\p{C}\s]*$/u
