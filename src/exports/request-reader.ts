import type { Clock } from '../kernel/index.ts'
import type { Ledger, Tx } from '../ledger/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { LinkIssuer, Project, ProjectStore } from '../tenancy/index.ts'
import { type ExportBody, type ExportRequest, readRequest, type Watermark } from './request/index.ts'
import {
  type EarlierRequests,
  fillNow,
  type TemplateStore,
  useTemplates,
  type Written,
  zoneOf,
} from './saved/index.ts'
import { requireAdminForAudit, type SqlConnections } from './sources/index.ts'

export interface RequestReaderDeps {
  projects: ProjectStore
  connections: SqlConnections
  templates: TemplateStore
  earlier: EarlierRequests
  http: HttpClient
  clock: Clock
  /** Throws what is wrong with the `notify` of a request. */
  checkNotify(wish: object): void
}

/** Turns what a caller sends into a request: templates filled in, and everything checked that needs the ledger. */
export class RequestReader {
  readonly #deps: RequestReaderDeps

  constructor(deps: RequestReaderDeps) {
    this.#deps = deps
  }

  /** With the secrets of an earlier request, and with its parameters filled in; beside it, as it was written. */
  async complete(
    db: Pick<Ledger, 'db'>,
    projectId: string,
    given: ExportBody,
    timezone = zoneOf(given),
  ): Promise<{ body: ExportBody; written: Written }> {
    const { earlier, clock } = this.#deps
    const body = await earlier.complete(db, projectId, given)
    return { body: fillNow(body, { at: clock.now(), timezone }), written: { body, timezone } }
  }

  /** A request for a task. */
  async accept(
    tx: Tx,
    projectId: string,
    body: ExportBody,
    issuer: LinkIssuer = {},
  ): Promise<{ project: Project; request: ExportRequest }> {
    const project = await this.#deps.projects.require(tx, projectId)
    const request = await this.read(tx, projectId, body, issuer)
    if (body.notify) this.#deps.checkNotify(body.notify)
    for (const { sql } of request.tables)
      if (sql) await this.#deps.connections.requireGrant(tx, projectId, sql.connection)
    return { project, request }
  }

  async read(
    db: Pick<Ledger, 'db'>,
    projectId: string,
    asked: ExportBody,
    { isAdmin = false }: LinkIssuer,
  ): Promise<ExportRequest> {
    const { clock, http, templates } = this.#deps
    const { body, used } = await useTemplates(asked, (name) => templates.get(projectId, name, { db }))
    const request = readRequest(body, {
      now: clock.now(),
      checkUrl: (url, headers) => http.check(url, headers),
    })
    for (const { sql } of request.tables) requireAdminForAudit(sql, isAdmin)
    return used.length === 0 ? request : { ...request, templates: used }
  }

  /** Names the operator, if there is one, and the key. */
  async watermark(
    ledger: Pick<Ledger, 'db'>,
    { name }: Project,
    { watermark, operator_id }: ExportBody,
    { id, keyId }: { id: string } & LinkIssuer,
  ): Promise<{ watermark?: Watermark }> {
    if (!watermark) return {}
    const { projects, clock } = this.#deps
    const holder = keyId === undefined ? name : `${name}, key ${await projects.keys.nameOf(keyId, ledger)}`
    const by = operator_id === undefined ? holder : `${operator_id} (${holder})`
    return { watermark: { by, at: new Date(clock.now()).toISOString(), id } }
  }
}
