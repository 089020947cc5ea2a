import type { FastifyRequest } from 'fastify'
import {
  type Grant,
  type LinkIssuer,
  matchesHash,
  type Project,
  type ProjectStore,
  type Scope,
  type Ticket,
  type Tickets,
} from '../engine/index.ts'
import { AppError, ERRORS } from '../kernel/index.ts'
import { mayUse } from './scopes.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Who asks. A ticket speaks for one task, or for the events of one project. */
export type Principal =
  | { role: 'admin' }
  | { role: 'project'; project: Project; keyId: string; scopes: readonly Scope[] }
  | ({ role: 'ticket'; ticket: string } & Ticket)

/** Who may ask, by route: `any` is the admin or a project, `ticket` also the holder of a ticket. */
export type Access = 'admin' | 'project' | 'any' | 'ticket' | 'open'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** People open it in a browser: what goes wrong is told as a page, and a ticket that is over is called a link that is. */
    link?: boolean
  }
  interface FastifyRequest {
    principal: Principal | null
  }
}

export interface AuthDeps {
  projects: ProjectStore
  tickets: Tickets
  adminTokenHash: string
}

/** What a caller may show: a header, or a parameter where a browser can set no header. */
export interface Credentials {
  authorization: string | undefined
  token: string | undefined
  link?: boolean
}

export class Authenticator {
  readonly #deps: AuthDeps

  constructor(deps: AuthDeps) {
    this.#deps = deps
  }

  /** The caller, or null when no credentials were shown. Throws when bad ones were. */
  async identify({ authorization, token, link = false }: Credentials): Promise<Principal | null> {
    if (authorization === undefined) return token === undefined ? null : this.#holder(token, link)
    const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    if (key === undefined) throw new AppError(ERRORS.UNAUTHENTICATED, "send 'Authorization: Bearer KEY'")
    if (matchesHash(key, this.#deps.adminTokenHash)) return { role: 'admin' }
    const holder = await this.#deps.projects.authenticate(key)
    return holder ? { role: 'project', ...holder } : this.#holder(key)
  }

  /** Only tickets are taken from an address: those end up in logs and histories. */
  async #holder(text: string, link = false): Promise<Principal> {
    const ticket = this.#deps.tickets.check(text)
    if (ticket && (await this.#holds(ticket))) return { role: 'ticket', ticket: text, ...ticket }
    if (link && this.#deps.tickets.isOurs(text))
      throw new AppError(ERRORS.LINK_EXPIRED, 'this link is no longer good; ask for a new one')
    throw new AppError(
      ERRORS.UNAUTHENTICATED,
      'this key or ticket is not known, or no longer good; a key is sent as Authorization: Bearer KEY, and an address takes tickets only',
    )
  }

  async #holds({ projectId, keyId }: Ticket): Promise<boolean> {
    return projectId === null || this.#deps.projects.holds({ projectId, keyId })
  }
}

/** Parameters count only where tickets do: a key in an address ends up in logs. */
export function credentialsOf(request: FastifyRequest, access: Access): Credentials {
  const { token, ticket } = request.query as { token?: unknown; ticket?: unknown }
  const parameter = [token, ticket].find((value) => typeof value === 'string') as string | undefined
  const { link = false } = request.routeOptions.config
  return {
    authorization: request.headers.authorization,
    token: access === 'ticket' ? parameter : undefined,
    link,
  }
}

/** The one place that decides which routes a caller may use at all; whose things they are is decided by the routes. */
export function allow(
  principal: Principal | null,
  access: Access,
  { method, route }: { method: string; route: string },
): void {
  if (access === 'open') return
  if (!principal) {
    throw new AppError(ERRORS.UNAUTHENTICATED, "this needs a key: send 'Authorization: Bearer KEY'")
  }
  if (principal.role === 'ticket' && access !== 'ticket') {
    throw new AppError(ERRORS.FORBIDDEN, "a ticket is good for its task's or project's events and file only")
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

/** The project whose key was shown, for routes that take only those. */
export function ownProject(principal: Principal | null): string {
  if (principal?.role === 'project') return principal.project.id
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
  return principal?.role === 'project' ? { keyId: principal.keyId } : {}
}

/** What has to stay good for as long as the caller is served; null: it has no end. */
export function grantOf(principal: Principal | null): Grant | null {
  if (principal?.role === 'project') return { projectId: principal.project.id, keyId: principal.keyId }
  if (principal?.role === 'ticket' && principal.projectId !== null)
    return { projectId: principal.projectId, keyId: principal.keyId }
  return null
}
