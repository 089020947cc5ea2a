import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuditLog, Deed, Tx } from '../engine/index.ts'
import { type Log, outageOf } from '../kernel/index.ts'
import type { Principal } from './auth.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Its deed was recorded in the transaction that did it. */
    audited: boolean
  }
}

/** Short names for deeds, and those that are recorded although they need no admin token. */
const ACTIONS: Record<string, string> = {
  'POST /api/projects': 'project.created',
  'PUT /api/projects/:project_id': 'project.changed',
  'DELETE /api/projects/:project_id': 'project.deleted',
  'POST /api/projects/:project_id/rotate': 'project.rotated',
  'POST /api/projects/:project_id/keys': 'key.created',
  'DELETE /api/projects/:project_id/keys/:key_id': 'key.revoked',
  'PUT /api/projects/:project_id/agents': 'project.agents_changed',
  'PUT /api/settings/max_concurrent': 'setting.changed',
  'PUT /api/accounts/:handle': 'account.changed',
  'DELETE /api/accounts/:handle': 'account.deleted',
  'POST /api/runs': 'run.started',
  'POST /api/runs/:run_id/cancel': 'run.cancelled',
  'DELETE /api/exports/:task_id': 'export.cancelled',
  'GET /api/exports/:task_id/file': 'export.downloaded',
  'DELETE /api/exports/:task_id/file': 'export.file_deleted',
  'DELETE /api/transfer-jobs/:job_id': 'transfer.cancelled',
  'PUT /api/templates/:name': 'template.changed',
  'DELETE /api/templates/:name': 'template.deleted',
  'POST /api/agents/enrollments': 'agent.invited',
  'DELETE /api/agents/:agent_id/:container_id': 'agent.revoked',
}

/** Fields of bodies that say what was changed and hold no secret. */
const SHOWN = [
  'name',
  'scopes',
  'expires_at',
  'what',
  'grace_hours',
  'value',
  'files',
  'handle',
  'agent_id',
  'container_id',
]

/**
 * Records who did what. A route that has a transaction records in it; for all others the answer waits until the deed is
 * recorded. Whatever needs the admin token and changes something is recorded, also by a route that nobody thought of here.
 */
export class AuditTrail {
  readonly #deps: { audit: AuditLog; log: Log }

  constructor(deps: { audit: AuditLog; log: Log }) {
    this.#deps = deps
  }

  /** In the transaction of the deed; `target` where its id is not in the address. */
  record(tx: Tx, request: FastifyRequest, target?: string): void {
    request.audited = true
    this.#deps.audit.record(tx, deedOf(request, target))
  }

  /** After the deed, whose answer is about to be sent. */
  async follow(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.audited || reply.statusCode >= 300 || !isDeed(request)) return
    // The answer to an earlier request, whose deed is recorded.
    if (reply.hasHeader('Idempotency-Replayed')) return
    request.audited = true
    await this.prepare(request)()
  }

  /** What records the deed once it is done: by then the caller may be gone, and its address with it. */
  prepare(
    request: FastifyRequest,
    named: Partial<Pick<Deed, 'action' | 'target'>> = {},
  ): () => Promise<void> {
    const deed = { ...deedOf(request), ...named }
    return () => this.#append(deed)
  }

  async #append(deed: Deed): Promise<void> {
    try {
      await this.#deps.audit.recordAlone(deed)
    } catch (error) {
      // The deed is done, and its answer must say so.
      if (outageOf(error) === undefined) throw error
      this.#deps.log.error({ err: error, deed }, 'a deed could not be recorded in the audit log')
    }
  }
}

function routeOf({ method, routeOptions }: FastifyRequest): string {
  return `${method} ${routeOptions.url ?? ''}`
}

function isDeed(request: FastifyRequest): boolean {
  if (['GET', 'HEAD', 'OPTIONS'].includes(request.method)) return false
  return request.routeOptions.config.access === 'admin' || ACTIONS[routeOf(request)] !== undefined
}

function deedOf(request: FastifyRequest, target?: string): Deed {
  const params = (request.params ?? {}) as Record<string, string>
  const body = request.body !== null && typeof request.body === 'object' ? request.body : {}
  const shown = Object.entries(body).filter(([name]) => SHOWN.includes(name))
  const own = request.principal?.role === 'project' ? request.principal.project.id : null
  return {
    actor: actorOf(request.principal),
    action: ACTIONS[routeOf(request)] ?? routeOf(request),
    projectId: params.project_id ?? own,
    target: target ?? Object.values(params).join(' '),
    address: request.ip,
    ...(shown.length > 0 && { detail: Object.fromEntries(shown) }),
  }
}

function actorOf(principal: Principal | null): string {
  return principal?.role === 'project' ? `key ${principal.keyId}` : (principal?.role ?? 'nobody')
}
