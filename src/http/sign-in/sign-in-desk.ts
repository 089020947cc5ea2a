import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { Session, SessionOwner, Sessions } from '../../tenancy/index.ts'
import {
  type AuditTrail,
  type Authenticator,
  type Cookies,
  type OwnOrigin,
  type Principal,
  SESSION_COOKIE,
} from '../auth/index.ts'

export interface SignInDeskDeps {
  ledger: Ledger
  sessions: Sessions
  trail: AuditTrail
  authenticator: Authenticator
  cookies: Cookies
  own: OwnOrigin
}

/** Opens and ends sessions of browsers. */
export class SignInDesk {
  readonly #deps: SignInDeskDeps

  constructor(deps: SignInDeskDeps) {
    this.#deps = deps
  }

  /** For a key or the admin token, shown this once: from here on the cookie speaks for it. */
  async withKey(request: FastifyRequest, reply: FastifyReply, key: string): Promise<void> {
    // A foreign page could sign its own key in here, and read what is then done in its name.
    this.requireOwnPage(request)
    const principal = await this.#deps.authenticator.byKey(key)
    if (principal === null)
      throw new AppError(ERRORS.UNAUTHENTICATED, 'this key is not known, or no longer good')
    const { keyId } = principal
    const owner: SessionOwner = keyId === null ? { kind: 'token' } : { kind: 'key', keyId }
    const session = await this.open(request, reply, owner)
    request.principal = { ...principal, session }
  }

  /** A session that the browser had before ends. */
  async open(request: FastifyRequest, reply: FastifyReply, owner: SessionOwner): Promise<Session> {
    const { ledger, sessions, trail, cookies } = this.#deps
    const before = await this.#current(request)
    const { secret, ...session } = await ledger.transaction(async (tx) => {
      if (before) await sessions.end(tx, before.id)
      const made = await sessions.create(tx, owner, request.ip)
      request.principal = ownerOf(made)
      trail.record(tx, request, made.id)
      return made
    })
    const seconds = Math.round((session.expiresAt - session.createdAt) / 1000)
    reply.header(
      'Set-Cookie',
      cookies.write(request.raw, SESSION_COOKIE, secret, { seconds, sameSite: 'Strict' }),
    )
    return session
  }

  /** Ends the browser's own session, if it has one. */
  async leave(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { ledger, sessions, trail, cookies } = this.#deps
    const session = await this.#current(request)
    // The page to leave by is open to everybody; the deed is that of who leaves.
    if (session) request.principal ??= ownerOf(session)
    if (session)
      await ledger.transaction(async (tx) => {
        await sessions.end(tx, session.id)
        trail.record(tx, request, session.id)
      })
    request.audited = true
    reply.header(
      'Set-Cookie',
      cookies.write(request.raw, SESSION_COOKIE, '', { seconds: 0, sameSite: 'Strict' }),
    )
  }

  requireOwnPage(request: FastifyRequest): void {
    if (!this.#deps.own.isOwnPage(request.raw)) throw foreignOrigin()
  }

  async #current({ raw }: FastifyRequest): Promise<Session | undefined> {
    const secret = this.#deps.cookies.read(raw, SESSION_COOKIE)
    return secret === undefined ? undefined : this.#deps.sessions.find(secret)
  }
}

/** For the record alone: what they may do is read out of the ledger with each request. */
function ownerOf(session: Session): Principal {
  const { owner } = session
  return { role: 'admin', looksOnly: true, keyId: owner.kind === 'key' ? owner.keyId : null, session }
}

function foreignOrigin(): AppError {
  return new AppError(
    ERRORS.FOREIGN_ORIGIN,
    'a session is good for pages of this server only: other callers send a key as Authorization: Bearer KEY',
  )
}
