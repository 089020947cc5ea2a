import type { FastifyRequest } from 'fastify'
import { matchesHash, type Project, type ProjectStore } from '../engine/index.ts'
import { AppError, ERRORS } from '../kernel/index.ts'

/** Who asks. */
export type Principal = { role: 'admin' } | { role: 'project'; project: Project }

/** Who may ask, by route. */
export type Access = 'admin' | 'project' | 'any' | 'open'

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
  adminTokenHash: string
}

export class Authenticator {
  readonly #deps: AuthDeps

  constructor(deps: AuthDeps) {
    this.#deps = deps
  }

  /** The caller, or null when no credentials were shown. Throws when bad ones were. */
  async identify(request: FastifyRequest): Promise<Principal | null> {
    const header = request.headers.authorization
    if (header === undefined) return null
    const key = /^Bearer +(\S+)$/i.exec(header)?.[1]
    if (key === undefined) throw new AppError(ERRORS.UNAUTHENTICATED, "send 'Authorization: Bearer KEY'")
    if (matchesHash(key, this.#deps.adminTokenHash)) return { role: 'admin' }
    const project = await this.#deps.projects.authenticate(key)
    if (!project) throw new AppError(ERRORS.UNAUTHENTICATED, 'this key is not known, or no longer good')
    return { role: 'project', project }
  }
}

export function allow(principal: Principal | null, access: Access): void {
  if (access === 'open') return
  if (!principal)
    throw new AppError(ERRORS.UNAUTHENTICATED, "this needs a key: send 'Authorization: Bearer KEY'")
  if (access === 'admin' && principal.role !== 'admin')
    throw new AppError(ERRORS.FORBIDDEN, 'this needs the admin token')
  if (access === 'project' && principal.role !== 'project') {
    throw new AppError(ERRORS.FORBIDDEN, "this needs a project's key, not the admin token")
  }
}

/** A project may touch only what is its own; the admin may touch everything. What is not one's own does not exist. */
export function requireProject(principal: Principal | null, projectId: string | null): void {
  if (principal?.role === 'admin') return
  if (principal?.role === 'project' && principal.project.id === projectId) return
  throw new AppError(ERRORS.FORBIDDEN, 'this key belongs to another project')
}
