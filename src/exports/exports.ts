import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { TaskNotice } from '../domain/index.ts'
import { type Engine, nullable, waitingFor } from '../jobs/index.ts'
import { AppError, ERRORS, isAppError, newId } from '../kernel/index.ts'
import type { Tx } from '../ledger/index.ts'
import type { ArtifactStore } from '../storage/index.ts'
import {
  type LinkIssuer,
  type Project,
  QUOTAS,
  type Quota,
  type Sealer,
  sealUrl,
  type Tickets,
} from '../tenancy/index.ts'
import { type BulkAction, withinReach } from './bulk.ts'
import { ExportFiles, withoutFile } from './export-files.ts'
import { EXPORT_KIND, EXPORT_LANE, type ExportPayload, type ExportResult } from './export-job.ts'
import { type ExportFilter, ExportList, type ListOptions, type Total } from './export-list.ts'
import { ExportQueries } from './export-queries.ts'
import { type ExportRow, type ExportView, statusOf, toExportView } from './export-view.ts'
import { failureWords } from './failure-words.ts'
import {
  ImmediateExports,
  type ImmediateExportsDeps,
  type ImmediateExportsOptions,
} from './immediate-exports.ts'
import { KeptRowsStore, sealTable } from './pipeline/index.ts'
import { type RenderWish, renderRequest } from './render-request.ts'
import { type ExportReport, type ManifestSigner, warningWords } from './report/index.ts'
import type { ExportBody, ExportRequest } from './request/index.ts'
import { RequestReader, type RequestReaderDeps } from './request-reader.ts'
import { type AskedFor, useTemplates, type Written } from './saved/index.ts'

export interface ExportsDeps extends ImmediateExportsDeps, Omit<RequestReaderDeps, 'checkNotify'> {
  engine: Engine
  sealer: Sealer
  tickets: Tickets
  store: ArtifactStore
  signer: ManifestSigner
  /** The base address of links for a caller who used `origin`; null: unknown. */
  linkBase(origin?: string): string | null
}

export interface ExportsOptions extends ImmediateExportsOptions, Pick<RequestReaderDeps, 'checkNotify'> {
  /** Unfinished tasks that one project may have. */
  projectLimit: number
}

export type ExportPosition = Static<typeof ExportPosition>
export const ExportPosition = Type.Object(
  {
    position: Type.Integer({ description: '0 when it runs or is about to; 1 is next' }),
    running: Type.Integer(),
    limit: nullable(Type.Integer()),
    held_by: Type.Enum(['nothing', 'exports_at_once', 'quota'], {
      description:
        'exports_at_once: the limit of the installation; quota: one of the project, named by `quota`',
    }),
    quota: nullable(Type.Enum([...QUOTAS])),
  },
  { title: 'ExportPosition' },
)

const QUOTA_OF: Record<string, Quota> = {
  [ERRORS.QUOTA_DISK.code]: 'disk_bytes',
  [ERRORS.QUOTA_ROWS.code]: 'rows_per_day',
  [ERRORS.QUOTA_BYTES.code]: 'bytes_per_day',
}

export type RunAgainDates = 'same' | 'today'

interface SubmitOptions {
  /** As it was written, if what is given was filled in before. */
  written?: Written
  /** Whose days the dates are, if not those of the request's own zone. */
  timezone?: string
}

const DOWNLOAD_URL_MS = 15 * 60_000
const HOUR_MS = 60 * 60_000
const TICKET_MS = 60 * 60_000

/** Everything that can be asked of exports; transports only translate. */
export class Exports {
  readonly #deps: ExportsDeps
  readonly #options: ExportsOptions
  readonly #queries: ExportQueries
  readonly #list: ExportList
  readonly #reader: RequestReader
  readonly files: ExportFiles
  readonly immediate: ImmediateExports

  constructor(deps: ExportsDeps, options: ExportsOptions) {
    this.#deps = deps
    this.#options = options
    this.#queries = new ExportQueries(deps.ledger)
    this.#list = new ExportList(deps.ledger)
    this.#reader = new RequestReader({ ...deps, checkNotify: options.checkNotify })
    this.files = new ExportFiles(deps)
    this.immediate = new ImmediateExports(deps, this.#reader, options)
  }

  /** Why a project may ask for no export now, if it may not. Read before the transaction of a request. */
  refusal(projectId: string): Promise<AppError | undefined> {
    return this.#deps.quotas.refusal(projectId, 'disk_bytes', 'rows_per_day', 'bytes_per_day')
  }

  /** Throws what `submit` would, as far as the request is to blame. */
  async check(tx: Tx, projectId: string, body: ExportBody): Promise<void> {
    await this.#reader.accept(tx, projectId, body)
  }

  /** Accepts a request, in the caller's transaction. Equal requests of a project share a job that is not done yet. */
  async submit(
    tx: Tx,
    projectId: string,
    given: ExportBody,
    { written, timezone, ...issuer }: LinkIssuer & SubmitOptions = {},
  ): Promise<ExportView> {
    const completed = await this.#reader.complete(tx, projectId, given, timezone)
    const { body } = completed
    const accepted = await this.#reader.accept(tx, projectId, body, issuer)
    const kept = this.#deps.earlier.keep(body, written ?? completed.written)
    return this.#enqueue(tx, { ...accepted, kept }, body, issuer)
  }

  /** The request of an export without its secrets, which `sealed` names. */
  request(taskId: string): Promise<AskedFor> {
    return this.#deps.earlier.shown(this.#deps.ledger, taskId)
  }

  /**
   * Asks for the same once more, secrets included: for the same days, or with the words for dates filled in anew. It is
   * checked again: what it uses may be gone by now.
   */
  async runAgain(
    tx: Tx,
    { task_id, project_id }: ExportView,
    { operator, dates, ...issuer }: LinkIssuer & { operator: string | null; dates: RunAgainDates },
  ): Promise<ExportView> {
    const { request, written } = await this.#deps.earlier.ofTask(tx, task_id)
    const by = operator === null ? {} : { operator_id: operator }
    if (dates === 'today' && written)
      return this.submit(
        tx,
        project_id,
        { ...written.body, ...by },
        { ...issuer, timezone: written.timezone },
      )
    return this.submit(tx, project_id, { ...request, ...by }, { ...issuer, ...(written && { written }) })
  }

  /** Asks for another file of the rows that an export has kept. */
  async render(tx: Tx, taskId: string, wish: RenderWish, issuer: LinkIssuer = {}): Promise<ExportView> {
    const row = await this.#queries.find(taskId, tx)
    const status = statusOf(row)
    if (status !== 'succeeded') throw withoutFile(taskId, status, 'it has kept no rows')
    const tables = await new KeptRowsStore(this.#deps).require(row.job_id, tx.db)
    const { request } = await this.#queries.payload(tx, row.job_id)
    const now = this.#deps.clock.now()
    const find = (name: string) => this.#deps.templates.get(row.project_id ?? '', name, { db: tx })
    const { body: named, used } = await useTemplates(wish, find)
    const made = renderRequest(request, { wish: named, tables, now })
    const accepted = used.length === 0 ? made : { ...made, templates: used }
    const body = {
      ...(wish.file_name !== undefined && { file_name: wish.file_name }),
      ...(row.label !== null && { operator_id: row.label }),
      ...(request.watermark && { watermark: true }),
    }
    const project = await this.#deps.projects.require(tx, row.project_id ?? '')
    return this.#enqueue(tx, { project, request: accepted }, body, issuer)
  }

  async #enqueue(
    tx: Tx,
    {
      project,
      request: accepted,
      kept = {},
    }: { project: Project; request: ExportRequest; kept?: { request?: string; written?: string } },
    body: ExportBody,
    issuer: LinkIssuer,
  ): Promise<ExportView> {
    const { id: projectId } = project
    const taskId = newId()
    const mark = await this.#reader.watermark(tx, project, body, { id: taskId, ...issuer })
    const request = { ...accepted, ...mark }
    // Counted twice: here to refuse a flood cheaply, and at the end, in turn, so that no two requests take the last place.
    const { projectLimit } = this.#options
    const active = 1 + (await this.#queries.countActive(tx, projectId))
    if (active > projectLimit) throw this.#limitReached(active)
    this.#queries.requireAtMost(tx, projectId, projectLimit, (count) => this.#limitReached(count))
    const headers = body.source_headers ?? {}
    const sourceHeaders = Object.keys(headers).length > 0 ? JSON.stringify(headers) : null
    const { sealer } = this.#deps
    const tables = request.tables.map((table) => sealTable(sealer, table))
    const payload: ExportPayload = {
      projectId,
      request: { ...request, tables },
      sourceHeaders: sourceHeaders && this.#deps.sealer.seal(sourceHeaders),
    }
    // A made-up file name differs each time and must not keep equal requests apart.
    const same = { ...request, fileName: body.file_name === undefined ? null : request.fileName }
    // A caller who waits for a file must not join a job that lets others go first.
    const later = body.priority === 'scheduled' ? ['scheduled'] : []
    await this.#deps.engine.enqueue(tx, {
      kind: EXPORT_KIND,
      payload,
      owner: projectId,
      // A marked file is its caller's own.
      ...(body.fresh !== true &&
        !body.watermark && { shareKey: fingerprint([projectId, same, sourceHeaders, ...later]) }),
      ...(later.length > 0 && { deferred: true }),
      tasks: [
        {
          id: taskId,
          projectId,
          ...(body.operator_id !== undefined && { label: body.operator_id }),
          details: {
            ...kept,
            ...(body.notify && { notify: sealer.seal(JSON.stringify(body.notify)) }),
          },
          ...(body.callback !== undefined && { callback: sealUrl(sealer, body.callback) }),
        },
      ],
    })
    return this.#view(await this.#queries.find(taskId, tx), issuer)
  }

  /** The download address ends with the key of the issuer; with a ticket, it carries that one instead of a fresh one. */
  async get(taskId: string, issuer: LinkIssuer = {}): Promise<ExportView> {
    return this.#view(await this.#queries.find(taskId), issuer)
  }

  async list(
    options: ListOptions,
    issuer: LinkIssuer = {},
  ): Promise<{ items: ExportView[]; next_cursor: string | null }> {
    const { taskIds, nextCursor } = await this.#list.page(options)
    const rows = await this.#queries.some(taskIds)
    return { items: rows.map((row) => this.#view(row, issuer)), next_cursor: nextCursor }
  }

  /** The ids of those that an action can change, page by page. */
  reach(action: BulkAction, options: ListOptions): Promise<{ taskIds: string[]; nextCursor: string | null }> {
    return this.#list.page({ ...options, ...withinReach(action, options) })
  }

  /** Whose it is; throws if there is none. */
  async projectOf(taskId: string): Promise<string> {
    return (await this.#queries.find(taskId)).project_id ?? ''
  }

  total(filter: ExportFilter): Promise<Total> {
    return this.#list.total(filter)
  }

  operators(projectId: string, prefix?: string): Promise<string[]> {
    return this.#list.operators(projectId, prefix)
  }

  async cancel(taskId: string): Promise<void> {
    await this.#deps.ledger.transaction((tx) => this.#deps.engine.cancelTask(tx, taskId))
  }

  async retry(tx: Tx, taskId: string, issuer: LinkIssuer = {}): Promise<ExportView> {
    await this.#deps.engine.retryTask(tx, taskId)
    return this.#view(await this.#queries.find(taskId, tx), issuer)
  }

  async position(taskId: string): Promise<ExportPosition> {
    const row = await this.#queries.find(taskId)
    const place = await this.#deps.engine.lanes.position(EXPORT_LANE, row.job_id)
    const { position, running, limit, overShare } = place
    const away = waitingFor(row)
    const quota = overShare ? 'exports_at_once' : (away?.what === 'quota' && QUOTA_OF[away.code]) || null
    const held_by = quota !== null ? 'quota' : position > 0 ? 'exports_at_once' : 'nothing'
    return { position, running, limit, held_by, quota }
  }

  ticket(
    { task_id: taskId, project_id: projectId }: ExportView,
    { keyId = null, sessionId = null }: { keyId?: string | null; sessionId?: string | null },
  ): { ticket: string; expires_at: string } {
    const { ticket, expiresAt } = this.#deps.tickets.issue({ taskId, projectId, keyId, sessionId }, TICKET_MS)
    return { ticket, expires_at: new Date(expiresAt).toISOString() }
  }

  /** The body of a callback: the task, and its report if it has one. */
  async callback(taskId: string): Promise<ExportView & { report: ExportReport | null }> {
    const view = await this.get(taskId)
    if (view.status !== 'succeeded') return { ...view, report: null }
    const report = await this.files.report(taskId).catch((error: unknown) => {
      // Files of version 0.1.0 have none.
      if (isAppError(error, ERRORS.EXPORT_NOT_READY)) return null
      throw error
    })
    return { ...view, report }
  }

  /** The content of a mail or chat message at the end. The link works for as long as the file is kept, unless the request says otherwise. */
  async notice(taskId: string): Promise<TaskNotice | undefined> {
    const row = await this.#queries.find(taskId).catch((error) => {
      if (isAppError(error, ERRORS.TASK_NOT_FOUND)) return undefined
      throw error
    })
    if (!row) return undefined
    const at = await this.#deps.ledger.now()
    const kept = row.removed_at === null ? (row.expires_at ?? at) : at
    let until = kept
    let uses: number | null = null
    const view = this.#view(row, {}, (link) => {
      uses = link?.uses ?? null
      if (link?.hours !== undefined) until = Math.min(kept, at + link.hours * HOUR_MS)
      return Math.max(0, until - at)
    })
    const link = kept > at ? view.download_url : null
    const { request } = await this.#queries.payload(this.#deps.ledger, row.job_id)
    return {
      status: view.status,
      succeeded: view.status === 'succeeded',
      name: view.file?.name ?? view.file_name,
      title: request.tables[0]?.title ?? null,
      rows: view.file?.rows ?? null,
      bytes: view.file?.size ?? null,
      link,
      linkUntil: link === null ? null : until,
      linkUses: link === null ? null : uses,
      timezone: request.timezone,
      warnings: view.warning_details.map(warningWords),
      error: view.error && failureWords(view.error),
      taskId,
    }
  }

  /** `active` counts the one that is being asked for. */
  #limitReached(active: number): AppError {
    const { projectLimit } = this.#options
    const message = `this project has ${active - 1} unfinished exports, and may have ${projectLimit}; wait for some to end`
    return new AppError(ERRORS.EXPORT_LIMIT, message, { retryAfter: 10 })
  }

  #view(
    row: ExportRow,
    issuer: LinkIssuer,
    validFor = (link: ExportResult['link']) =>
      link?.hours === undefined ? DOWNLOAD_URL_MS : link.hours * HOUR_MS,
  ): ExportView {
    return toExportView(row, (taskId, { link }) => {
      const { project_id: projectId } = row
      const { keyId = null, sessionId = null } = issuer
      const fresh = { taskId, projectId, keyId, sessionId }
      const ticket = issuer.ticket ?? this.#deps.tickets.issue(fresh, validFor(link)).ticket
      const base = this.#deps.linkBase(issuer.origin)
      return base === null ? null : `${base}/api/exports/${taskId}/file?ticket=${ticket}`
    })
  }
}

function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}
