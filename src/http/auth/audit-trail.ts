import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Clock, type Log, outageOf } from '../../kernel/index.ts'
import type { Tx } from '../../ledger/index.ts'
import type { AuditLog, Deed } from '../../tenancy/index.ts'
import { actorOf, personOf } from './auth.ts'

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
  'POST /api/runs/bulk': 'run.bulk',
  'POST /api/runs/:run_id/cancel': 'run.cancelled',
  'DELETE /api/exports/:task_id': 'export.cancelled',
  'POST /api/exports/bulk': 'export.bulk',
  'GET /api/exports/:task_id/file': 'export.downloaded',
  'DELETE /api/exports/:task_id/file': 'export.file_deleted',
  'POST /api/transfers': 'transfer.requested',
  'DELETE /api/transfer-jobs/:job_id': 'transfer.cancelled',
  'PUT /api/saved-exports/:name': 'saved_export.changed',
  'DELETE /api/saved-exports/:name': 'saved_export.deleted',
  'PUT /api/templates/:name': 'template.changed',
  'DELETE /api/templates/:name': 'template.deleted',
  'DELETE /api/tasks/:task_id': 'task.cancelled',
  'GET /api/tasks/:task_id/result': 'task.downloaded',
  'PUT /api/connections/:name': 'connection.changed',
  'DELETE /api/connections/:name': 'connection.deleted',
  'POST /api/connections/:name/test': 'connection.tested',
  'POST /api/session': 'session.started',
  'GET /auth/callback': 'session.started',
  'DELETE /api/session': 'session.ended',
  'GET /auth/logout': 'session.ended',
  'DELETE /api/sessions/:session_id': 'session.revoked',
  'POST /api/agents/enrollments': 'agent.invited',
  'DELETE /api/agents/:agent_id/:container_id': 'agent.revoked',
  'DELETE /api/agents/:agent_id/': 'agent.revoked',
}

export const AUDIT_ACTIONS: readonly string[] = [
  ...new Set([...Object.values(ACTIONS), 'admin.refused', 'admin_token.changed', 'session.refused']),
]

/** Fields of bodies that say what was changed and hold no secret. */
export const AUDIT_FIELDS = [
  'action',
  'filter',
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
  'file_path',
  'file_name',
  'export_task_id',
  'biz_ids',
  'quotas',
  'masks',
  'projects',
]

/** What was forgotten is recorded a second time, no worse. */
const MOST_REMEMBERED = 10_000

/**
 * Records who did what. A route that has a transaction records in it; for all others the answer waits until the deed is
 * recorded. Whatever needs the admin token and changes something is recorded, also by a route that nobody thought of here.
 */
export class AuditTrail {
  readonly #deps: { audit: AuditLog; log: Log }
  readonly #recorded = new Set<string>()
  readonly #inTx = new WeakMap<Tx, Set<string>>()
  readonly #refused: RefusedAttempts

  constructor(deps: { audit: AuditLog; log: Log; clock: Clock }) {
    this.#deps = deps
    this.#refused = new RefusedAttempts(deps.clock)
  }

  /** Somebody without the admin token has tried what needs it. */
  async refused(request: FastifyRequest): Promise<void> {
    if (request.routeOptions.config.access !== 'admin' || !this.#refused.isNew(request.ip)) return
    await this.#append({ ...deedOf(request), action: 'admin.refused', target: routeOf(request) })
  }

  /** In the transaction of the deed; `target` where its id is not in the address. */
  record(tx: Tx, request: FastifyRequest, target?: string): void {
    request.audited = true
    this.#deps.audit.record(tx, deedOf(request, target))
  }

  /** Once per caller and thing, although it takes many requests: a delivery has one per target. */
  recordOnce(tx: Tx, request: FastifyRequest, target: string): void {
    request.audited = true
    const key = `${routeOf(request)} ${actorOf(request.principal)} ${target}`
    const here = this.#inTx.get(tx) ?? new Set()
    this.#inTx.set(tx, here)
    if (here.has(key) || this.#recorded.has(key)) return
    here.add(key)
    this.#deps.audit.record(tx, deedOf(request, target))
    tx.afterCommit(() => {
      this.#recorded.add(key)
      const [oldest] = this.#recorded
      if (this.#recorded.size > MOST_REMEMBERED && oldest !== undefined) this.#recorded.delete(oldest)
    })
  }

  /** After a deed that was many transactions, with the ids of what it was done to; without any, nothing was done. */
  async recordMany(request: FastifyRequest, targets: readonly string[]): Promise<void> {
    request.audited = true
    if (targets.length > 0) await this.prepare(request, { target: targets.join(' ') })()
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
  const { access } = request.routeOptions.config
  return access === 'admin' || access === 'runs' || ACTIONS[routeOf(request)] !== undefined
}

function deedOf(request: FastifyRequest, target?: string): Deed {
  const params = (request.params ?? {}) as Record<string, string>
  const body = request.body !== null && typeof request.body === 'object' ? request.body : {}
  const shown = Object.entries(body).filter(([name]) => AUDIT_FIELDS.includes(name))
  const own = request.principal?.role === 'project' ? request.principal.project.id : null
  const person = personOf(request.principal)
  // Names may be alike; the provider's own name for a person is not.
  const detail = { ...Object.fromEntries(shown), ...(person && { subject: person.subject }) }
  return {
    actor: actorOf(request.principal),
    action: ACTIONS[routeOf(request)] ?? routeOf(request),
    projectId: params.project_id ?? own,
    target: target ?? Object.values(params).join(' '),
    address: request.ip,
    ...(Object.keys(detail).length > 0 && { detail }),
  }
}

const HOUR_MS = 3_600_000
/** Refused attempts in the audit log per hour, at most: it cannot be shortened, and an attacker must not fill the disk with it. */
const MOST_PER_HOUR = 60

/** Which refused attempts are recorded: the first of an address in an hour, and at most N of all addresses. */
class RefusedAttempts {
  readonly #clock: Clock
  readonly #seen = new Set<string>()
  #hour = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isNew(address: string): boolean {
    const hour = Math.floor(this.#clock.now() / HOUR_MS)
    if (hour !== this.#hour) this.#seen.clear()
    this.#hour = hour
    if (this.#seen.has(address) || this.#seen.size >= MOST_PER_HOUR) return false
    this.#seen.add(address)
    return true
  }
}
