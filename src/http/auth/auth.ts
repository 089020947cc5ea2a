import type { FastifyRequest } from 'fastify'
import { AppError, ERRORS, type Scope } from '../../kernel/index.ts'
import {
  type Grant,
  type LinkIssuer,
  matchesHash,
  type Person,
  type Project,
  type ProjectStore,
  type Session,
  type Sessions,
  type Ticket,
  type Tickets,
} from '../../tenancy/index.ts'
import { type Cookies, SESSION_COOKIE } from './cookies.ts'
import { mayUse, onlyLooks } from './scopes.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Who asks. A ticket speaks for one task, or for the events of one project. */
export type Principal =
  | ({ role: 'admin'; looksOnly: boolean } & Identity)
  | ({ role: 'project'; project: Project; scopes: readonly Scope[] } & Identity)
  | ({ role: 'ticket'; ticket: string; session: Session | null } & Ticket)

/** How the caller is known: by a key, by a session, which may be a key's, or by the admin token alone. */
interface Identity {
  keyId: string | null
  session: Session | null
}

/** Who may ask, by route: `any` is the admin or a project, `ticket` also the holder of a ticket, `runs` also a key for runs. */
export type Access = 'admin' | 'runs' | 'project' | 'any' | 'ticket' | 'open'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Opened in browsers: errors are answered as a page, and an expired ticket as an expired link. */
    link?: boolean
  }
  interface FastifyRequest {
    principal: Principal | null
  }
}

export interface AuthDeps {
  projects: ProjectStore
  sessions: Sessions
  tickets: Tickets
  adminTokenHash: string
}

/** What a caller may show: a header, a parameter where a browser can set no header, or the cookie of a session. */
export interface Credentials {
  authorization: string | undefined
  token: string | undefined
  link?: boolean
  session: string | undefined
  /** Which of a person's projects is meant. */
  project: string | undefined
}

const ADMIN = { role: 'admin', looksOnly: false, keyId: null, session: null } as const

export class Authenticator {
  readonly #deps: AuthDeps

  constructor(deps: AuthDeps) {
    this.#deps = deps
  }

  /** The caller, or null when no credentials were shown, or a cookie that is old. Throws when others were that are bad. */
  async identify({
    authorization,
    token,
    link = false,
    session,
    project,
  }: Credentials): Promise<Principal | null> {
    if (authorization === undefined) {
      if (token !== undefined) return this.#holder(token, link)
      return session === undefined ? null : this.#signedIn(session, project)
    }
    const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    if (key === undefined) throw new AppError(ERRORS.UNAUTHENTICATED, "send 'Authorization: Bearer KEY'")
    return (await this.byKey(key)) ?? this.#holder(key)
  }

  /** Whom a key or the admin token speaks for. */
  async byKey(key: string): Promise<Exclude<Principal, { role: 'ticket' }> | null> {
    if (matchesHash(key, this.#deps.adminTokenHash)) return ADMIN
    const holder = await this.#deps.projects.authenticate(key)
    return holder ? asPrincipal(holder, null) : null
  }

  async #signedIn(secret: string, project: string | undefined): Promise<Principal | null> {
    const session = await this.#deps.sessions.find(secret)
    if (!session) return null
    const { owner } = session
    if (owner.kind === 'token') return { ...ADMIN, session }
    if (owner.kind === 'person') return this.#person(owner.person, session, project)
    const holder = await this.#deps.projects.holder(owner.keyId)
    return holder ? asPrincipal(holder, session) : null
  }

  /** Of several roles, admin counts before projects, and projects before looking at everything. */
  async #person({ roles }: Person, session: Session, wanted: string | undefined): Promise<Principal | null> {
    if (roles.admin) return { ...ADMIN, session }
    const projects = await this.#deps.projects.some(Object.keys(roles.projects))
    const project = wanted === undefined ? projects[0] : projects.find(({ id }) => id === wanted)
    if (project) {
      const scopes: Scope[] = [roles.projects[project.id] === 'operator' ? 'all' : 'read']
      return { role: 'project', project, keyId: null, scopes, session }
    }
    if (wanted !== undefined && projects.length > 0)
      throw new AppError(ERRORS.PROJECT_NOT_FOUND, `there is no project ${wanted}`)
    return roles.viewer ? { ...ADMIN, looksOnly: true, session } : null
  }

  /** Only tickets are taken from an address: those end up in logs and histories. */
  async #holder(text: string, link = false): Promise<Principal> {
    const ticket = this.#deps.tickets.check(text)
    if (ticket && (await this.#deps.sessions.holds(ticket))) {
      const session = ticket.sessionId === null ? null : await this.#deps.sessions.get(ticket.sessionId)
      return { role: 'ticket', ticket: text, session: session ?? null, ...ticket }
    }
    if (link && this.#deps.tickets.isOurs(text))
      throw new AppError(ERRORS.LINK_EXPIRED, 'this link is no longer good; ask for a new one')
    throw new AppError(
      ERRORS.UNAUTHENTICATED,
      'this key or ticket is not known, or no longer good; a key is sent as Authorization: Bearer KEY, and an address takes tickets only',
    )
  }
}

/** A key for everything is as good as the admin token, and its deeds are recorded as its own. */
function asPrincipal(
  { project, keyId, scopes }: { project: Project; keyId: string; scopes: readonly Scope[] },
  session: Session | null,
): Exclude<Principal, { role: 'ticket' }> {
  if (scopes.includes('admin')) return { ...ADMIN, keyId, session }
  return { role: 'project', project, keyId, scopes, session }
}

/** Parameters count only where tickets do: a key in an address ends up in logs. */
export function credentialsOf(request: FastifyRequest, access: Access, cookies: Cookies): Credentials {
  const { token, ticket } = request.query as { token?: unknown; ticket?: unknown }
  const parameter = [token, ticket].find((value) => typeof value === 'string') as string | undefined
  const { link = false } = request.routeOptions.config
  const project = request.headers[PROJECT_HEADER]
  return {
    authorization: request.headers.authorization,
    token: access === 'ticket' ? parameter : undefined,
    link,
    // Whatever is open to everybody is not worth a question to the ledger.
    session: access === 'open' ? undefined : cookies.read(request.raw, SESSION_COOKIE),
    project: typeof project === 'string' ? project : undefined,
  }
}

/** Which of a person's projects a request is about. */
const PROJECT_HEADER = 'wharf-project'

const SESSION = '/api/session'

/** The one place that decides which routes a caller may use at all; whose things they are is decided by the routes. */
export function allow(
  principal: Principal | null,
  access: Access,
  { method, route }: { method: string; route: string },
): void {
  if (access === 'open') return
  if (!principal) {
    throw new AppError(
      ERRORS.UNAUTHENTICATED,
      "this needs a key or a session that is not over: send 'Authorization: Bearer KEY', or sign in",
    )
  }
  if (principal.role === 'ticket' && access !== 'ticket') {
    throw new AppError(ERRORS.FORBIDDEN, "a ticket is good for its task's or project's events and file only")
  }
  if (principal.role === 'admin' && principal.looksOnly && !onlyLooks(method, route) && route !== SESSION) {
    throw new AppError(ERRORS.FORBIDDEN, 'a viewer looks at everything and changes nothing')
  }
  if (access === 'admin' && principal.role !== 'admin') {
    throw new AppError(ERRORS.FORBIDDEN, 'this needs the admin token')
  }
  if (access === 'project' && principal.role !== 'project') {
    throw new AppError(ERRORS.FORBIDDEN, "this needs a project's key, not the admin token")
  }
  if (principal.role === 'project' && !mayUse(principal.scopes, method, route)) {
    throw new AppError(
      ERRORS.FORBIDDEN,
      `this key has the scopes ${principal.scopes.join(', ')}, which do not allow ${method} ${route}`,
    )
  }
}

/** A project may touch only what is its own, and learns of nothing else whether it exists; the admin may touch everything. */
export function requireProject(principal: Principal | null, projectId: string): void {
  requireOwn(
    principal,
    projectId,
    () => new AppError(ERRORS.PROJECT_NOT_FOUND, `there is no project ${projectId}`),
  )
}

/** `missing` is what the caller would get if there were no such thing. */
export function requireOwn(
  principal: Principal | null,
  projectId: string | null,
  missing: () => AppError,
): void {
  if (principal?.role === 'admin') return
  if (principal?.role === 'project' && principal.project.id === projectId) return
  throw missing()
}

/** What a list may show: a project's own, or everything to the admin. */
export function projectScope(principal: Principal | null): { projectId?: string } {
  if (principal?.role === 'admin') return {}
  if (principal?.role === 'project') return { projectId: principal.project.id }
  throw new AppError(ERRORS.FORBIDDEN, "this needs a project's key")
}

/** Like `requireOwn`, for one task, whose ticket will do as well. */
export function requireTask(
  principal: Principal | null,
  task: { id: string; projectId: string | null },
  missing: () => AppError = () => new AppError(ERRORS.TASK_NOT_FOUND, `there is no task ${task.id}`),
): void {
  if (principal?.role === 'ticket' && principal.taskId === task.id) return
  requireOwn(principal, task.projectId, missing)
}

/** For answers with links: they lead to where the caller asked. */
export function linkIssuerOf(request: FastifyRequest, proxies: TrustedProxies): LinkIssuer {
  return { ...issuerOf(request.principal), origin: proxies.originOf(request.raw) }
}

export function issuerOf(principal: Principal | null): LinkIssuer {
  if (principal?.role === 'ticket') return { ticket: principal.ticket }
  const { keyId = null, session = null } = principal ?? {}
  return {
    ...(keyId !== null && { keyId }),
    ...(session && { sessionId: session.id }),
    isAdmin: principal?.role === 'admin',
  }
}

/** What has to stay good for as long as the caller is served; null: it has no end. */
export function grantOf(principal: Principal | null): Grant | null {
  if (principal === null) return null
  const projectId =
    principal.role === 'project'
      ? principal.project.id
      : principal.role === 'ticket'
        ? principal.projectId
        : null
  const sessionId = principal.role === 'ticket' ? principal.sessionId : (principal.session?.id ?? null)
  const grant = { projectId, keyId: principal.keyId, sessionId }
  return Object.values(grant).some((id) => id !== null) ? grant : null
}

/** Who does it, for the record: a person by name, a key by its id. */
export function actorOf(principal: Principal | null): string {
  if (principal === null) return 'nobody'
  const owner = principal.session?.owner
  if (owner?.kind === 'person') return `person ${owner.person.name}`
  if (principal.keyId !== null)
    return principal.role === 'ticket' ? `ticket of key ${principal.keyId}` : `key ${principal.keyId}`
  return owner?.kind === 'token' ? 'admin' : principal.role
}

export function personOf(principal: Principal | null): Person | null {
  const owner = principal?.session?.owner
  return owner?.kind === 'person' ? owner.person : null
}
