import type { FastifyRequest } from 'fastify'
import { matchesHash, type Project, type ProjectStore, type Tickets } from '../engine/index.ts'
import { AppError, ERRORS } from '../kernel/index.ts'

/** Who asks. A ticket speaks for one task alone. */
export type Principal =
  | { role: 'admin' }
  | { role: 'project'; project: Project }
  | { role: 'ticket'; taskId: string; ticket: string }

/** Who may ask, by route: `any` is the admin or a project, `ticket` also the holder of a ticket. */
export type Access = 'admin' | 'project' | 'any' | 'ticket' | 'open'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
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
}

export class Authenticator {
  readonly #deps: AuthDeps

  constructor(deps: AuthDeps) {
    this.#deps = deps
  }

  /** The caller, or null when no credentials were shown. Throws when bad ones were. */
  async identify({ authorization, token }: Credentials): Promise<Principal | null> {
    if (authorization === undefined && token === undefined) return null
    const key = authorization === undefined ? token : /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    if (key === undefined) throw new AppError(ERRORS.UNAUTHENTICATED, "send 'Authorization: Bearer KEY'")
    const ticket = this.#deps.tickets.check(key)
    if (ticket) return { role: 'ticket', taskId: ticket.taskId, ticket: key }
    if (matchesHash(key, this.#deps.adminTokenHash)) return { role: 'admin' }
    const project = await this.#deps.projects.authenticate(key)
    if (!project)
      throw new AppError(ERRORS.UNAUTHENTICATED, 'this key or ticket is not known, or no longer good')
    return { role: 'project', project }
  }
}

/** Parameters count only where tickets do: a key in an address ends up in logs. */
export function credentialsOf(request: FastifyRequest, access: Access): Credentials {
  const { token, ticket } = request.query as { token?: unknown; ticket?: unknown }
  const parameter = [token, ticket].find((value) => typeof value === 'string') as string | undefined
  return { authorization: request.headers.authorization, token: access === 'ticket' ? parameter : undefined }
}

export function allow(principal: Principal | null, access: Access): void {
  if (access === 'open') return
  if (!principal) {
    throw new AppError(ERRORS.UNAUTHENTICATED, "this needs a key: send 'Authorization: Bearer KEY'")
  }
  if (principal.role === 'ticket' && access !== 'ticket') {
    throw new AppError(ERRORS.FORBIDDEN, "a ticket is good for its task's events and file only")
  }
  if (access === 'admin' && principal.role !== 'admin') {
    throw new AppError(ERRORS.FORBIDDEN, 'this needs the admin token')
  }
  if (access === 'project' && principal.role !== 'project') {
    throw new AppError(ERRORS.FORBIDDEN, "this needs a project's key, not the admin token")
  }
}

/** A project may touch only what is its own; the admin may touch everything. */
export function requireProject(principal: Principal | null, projectId: string | null): void {
  if (principal?.role === 'admin') return
  if (principal?.role === 'project' && principal.project.id === projectId) return
  throw new AppError(ERRORS.FORBIDDEN, 'this key belongs to another project')
}

/** What a list may show: a project's own, or everything to the admin. */
export function projectScope(principal: Principal | null): { projectId?: string } {
  if (principal?.role === 'admin') return {}
  if (principal?.role === 'project') return { projectId: principal.project.id }
  throw new AppError(ERRORS.FORBIDDEN, "this needs a project's key")
}

/** Like `requireProject`, for one task, whose ticket will do as well. */
export function requireTask(
  principal: Principal | null,
  task: { id: string; projectId: string | null },
): void {
  if (principal?.role === 'ticket') {
    if (principal.taskId === task.id) return
    throw new AppError(ERRORS.FORBIDDEN, 'this ticket is for another task')
  }
  requireProject(principal, task.projectId)
}

/** What the holder of a ticket may be given in turn: never more than that ticket, or it would renew itself for ever. */
export function ticketOf(principal: Principal | null): string | undefined {
  return principal?.role === 'ticket' ? principal.ticket : undefined
}
