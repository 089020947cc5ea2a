import { createHash, randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TaskNotice } from '../domain/index.ts'
import { type Engine, waitingFor } from '../jobs/index.ts'
import { AppError, type Clock, ERRORS, isAppError, type Log, makeFolder, newId } from '../kernel/index.ts'
import type { Ledger, Tx } from '../ledger/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { ArtifactStore, ByteRange, OpenedArtifact } from '../storage/index.ts'
import {
  type LinkIssuer,
  type Project,
  type ProjectStore,
  type Quota,
  type Quotas,
  type Sealer,
  sealUrl,
  type Tickets,
} from '../tenancy/index.ts'
import { type BulkAction, withinReach } from './bulk.ts'
import { EXPORT_KIND, EXPORT_LANE, type ExportPayload, type ExportResult } from './export-job.ts'
import { type ExportFilter, ExportList, type ListOptions, type Total } from './export-list.ts'
import { countRead } from './export-meter.ts'
import { type Download, ExportQueries } from './export-queries.ts'
import { type ExportRow, type ExportView, statusOf, toExportView } from './export-view.ts'
import { requireFile } from './finished-file.ts'
import { KeptRowsStore, type Produced, produce, sealTable } from './pipeline/index.ts'
import { type Preview, previewExport } from './preview/preview.ts'
import { type RenderWish, renderRequest } from './render-request.ts'
import {
  ExportReports,
  type FileReport,
  MANIFEST_FORMAT,
  type ManifestSigner,
  type Signed,
} from './report/index.ts'
import {
  adviseTask,
  type ExportBody,
  type ExportRequest,
  orShortage,
  readRequest,
  refuseTaskFields,
  type Watermark,
} from './request/index.ts'
import { type TemplateStore, useTemplates } from './saved/index.ts'
import { requireAdminForAudit, type SqlConnections } from './sources/index.ts'
import type { MaskRules } from './template/index.ts'
import type { ThreadPool } from './threads/index.ts'

export interface ExportsDeps {
  engine: Engine
  ledger: Ledger
  projects: ProjectStore
  quotas: Quotas
  sealer: Sealer
  connections: SqlConnections
  templates: TemplateStore
  tickets: Tickets
  http: HttpClient
  store: ArtifactStore
  pool: ThreadPool
  signer: ManifestSigner
  /** What a project demands to be hidden, and the key of its hashes. */
  masksOf(projectId: string): Promise<MaskRules>
  clock: Clock
  log: Log
  /** Where links lead, for a caller who used `origin`; null: unknown. */
  linkBase(origin?: string): string | null
}

export interface ExportsOptions {
  dataDir: string
  /** Unfinished tasks that one project may have. */
  projectLimit: number
  sync: { maxRows: number; maxBytes: number }
  excel: { maxRows: number; maxBytes: number }
  /** Throws what is wrong with the `notify` of a request. */
  checkNotify(wish: object): void
}

export interface Position {
  /** 0 when it runs or is about to; 1 is next. */
  position: number
  running: number
  /** Exports that may run at once, over all instances; null when nothing is limited. */
  limit: number | null
  /** `exports_at_once`: the installation's own limit, `WHARF_EXPORT_CONCURRENCY`. */
  held_by: 'nothing' | 'exports_at_once' | 'quota'
  /** Which quota of the project holds it. */
  quota: Quota | null
}

const QUOTA_OF: Record<string, Quota> = {
  [ERRORS.QUOTA_DISK.code]: 'disk_bytes',
  [ERRORS.QUOTA_ROWS.code]: 'rows_per_day',
  [ERRORS.QUOTA_BYTES.code]: 'bytes_per_day',
}

export interface TaskReport extends FileReport {
  task_id: string
  project_id: string
  finished_at: string
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
  readonly #reports: ExportReports
  readonly #kept: KeptRowsStore

  constructor(deps: ExportsDeps, options: ExportsOptions) {
    this.#deps = deps
    this.#options = options
    this.#queries = new ExportQueries(deps.ledger)
    this.#list = new ExportList(deps.ledger)
    this.#reports = new ExportReports(deps)
    this.#kept = new KeptRowsStore(deps)
  }

  /** Why a project may ask for no export now, if it may not. Read before the transaction of a request. */
  refusal(projectId: string): Promise<AppError | undefined> {
    return this.#deps.quotas.refusal(projectId, 'disk_bytes', 'rows_per_day', 'bytes_per_day')
  }

  /** Throws what `submit` would, as far as the request is to blame. */
  async check(tx: Tx, projectId: string, body: ExportBody): Promise<void> {
    await this.#accept(tx, projectId, body)
  }

  /** Accepts a request, in the caller's transaction. Equal requests of a project share a job that is not done yet. */
  async submit(tx: Tx, projectId: string, body: ExportBody, issuer: LinkIssuer = {}): Promise<ExportView> {
    return this.#enqueue(tx, await this.#accept(tx, projectId, body, issuer), body, issuer)
  }

  /** Asks for another file of the rows that an export has kept. */
  async render(tx: Tx, taskId: string, wish: RenderWish, issuer: LinkIssuer = {}): Promise<ExportView> {
    const row = await this.#queries.find(taskId, tx)
    const status = statusOf(row)
    if (status !== 'succeeded')
      throw new AppError(ERRORS.EXPORT_NOT_READY, `export ${taskId} is ${status}, so it has kept no rows`)
    const tables = await this.#kept.require(row.job_id, tx.db)
    const { request } = await this.#queries.payload(tx, row.job_id)
    const now = this.#deps.clock.now()
    const find = (name: string) => this.#deps.templates.get(row.project_id ?? '', name, { db: tx })
    const { body: named, used } = await useTemplates(wish, find)
    const made = renderRequest(request, { wish: named, tables, now })
    const asked = used.length === 0 ? made : { ...made, templates: used }
    const body = {
      ...(wish.file_name !== undefined && { file_name: wish.file_name }),
      ...(row.label !== null && { operator_id: row.label }),
      ...(request.watermark && { watermark: true }),
    }
    const project = await this.#deps.projects.require(tx, row.project_id ?? '')
    return this.#enqueue(tx, { project, asked }, body, issuer)
  }

  async #enqueue(
    tx: Tx,
    { project, asked }: { project: Project; asked: ExportRequest },
    body: ExportBody,
    issuer: LinkIssuer,
  ): Promise<ExportView> {
    const { id: projectId } = project
    const taskId = newId()
    const request = { ...asked, ...(await this.#watermark(tx, project, body, { id: taskId, ...issuer })) }
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
    // Somebody who waits for a file must not join a job that lets others go first.
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
          ...(body.notify && { details: { notify: sealer.seal(JSON.stringify(body.notify)) } }),
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

  async retry(tx: Tx, taskId: string): Promise<void> {
    await this.#deps.engine.retryTask(tx, taskId)
  }

  downloads(taskId: string): Promise<Download[]> {
    return this.#queries.downloads(taskId)
  }

  async position(taskId: string): Promise<Position> {
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

  async preview(
    projectId: string,
    body: ExportBody,
    signal: AbortSignal,
    issuer: LinkIssuer = {},
  ): Promise<Preview> {
    const { ledger, projects, connections } = this.#deps
    const { keepRowsHours: _, ...asked } = await this.#read(ledger, projectId, body, issuer)
    return this.#counted(projectId, async (spent) => {
      const project = await projects.require(ledger, projectId)
      const mark = await this.#watermark(ledger, project, body, { id: 'preview', ...issuer })
      return this.#inFolder(async (directory) =>
        previewExport(this.#deps, {
          request: { ...asked, ...mark },
          sourceHeaders: body.source_headers ?? {},
          secrets: await projects.webhookSecrets(projectId),
          masks: await this.#deps.masksOf(projectId),
          openSql: (source, signal) => connections.open(projectId, source, signal),
          directory,
          signal,
          onRead: ({ rows, bytes }) => {
            spent.rows += rows
            spent.bytes += bytes
          },
        }),
      )
    })
  }

  /** The file at once, for small data. `use` gets it before it is deleted again. */
  async sync<T>(
    projectId: string,
    body: ExportBody,
    signal: AbortSignal,
    use: (file: Produced) => Promise<T>,
    issuer: LinkIssuer = {},
  ): Promise<T> {
    const { ledger, projects } = this.#deps
    refuseTaskFields(body)
    const asked = await this.#read(ledger, projectId, body, issuer)
    const project = await projects.require(ledger, projectId)
    const mark = await this.#watermark(ledger, project, body, { id: newId(), ...issuer })
    const request = { ...asked, ...mark }
    return this.#counted(projectId, async (spent) => {
      try {
        return await this.#inFolder(async (directory) => {
          const produced = await produce(this.#deps, {
            request,
            sourceHeaders: body.source_headers ?? {},
            secrets: await this.#deps.projects.webhookSecrets(projectId),
            masks: await this.#deps.masksOf(projectId),
            openSql: (source, signal) => this.#deps.connections.open(projectId, source, signal),
            directory,
            limits: await this.#deps.quotas.within(projectId, this.#options.sync),
            excel: this.#options.excel,
            signal,
            onProgress: ({ fetched, bytes }) => {
              spent.rows = fetched
              spent.bytes = bytes
            },
          })
          // Before the answer: its reader may look at what it has used.
          await this.#count(projectId, spent)
          return await use(produced)
        })
      } catch (caught) {
        const read = { fetched: spent.rows, bytes: spent.bytes }
        const error = await orShortage(this.#deps.quotas, projectId, {
          own: this.#options.sync,
          read,
          caught,
        })
        throw adviseTask(error)
      }
    })
  }

  /** A folder for as long as the work takes. */
  async #inFolder<T>(work: (directory: string) => Promise<T>): Promise<T> {
    const directory = join(this.#options.dataDir, 'sync', randomUUID())
    await makeFolder(directory)
    try {
      return await work(directory)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }

  /** Work that a request waits for: N at once, and what it reads counts, also when it fails. */
  async #counted<T>(
    projectId: string,
    work: (spent: { rows: number; bytes: number }) => Promise<T>,
  ): Promise<T> {
    const { quotas } = this.#deps
    await quotas.require(projectId, 'rows_per_day', 'bytes_per_day')
    const release = await quotas.hold(projectId, 'requests_at_once')
    const spent = { rows: 0, bytes: 0 }
    try {
      return await work(spent)
    } finally {
      release()
      await this.#count(projectId, spent)
    }
  }

  /** Takes away what it counts. */
  async #count(projectId: string, spent: { rows: number; bytes: number }): Promise<void> {
    const { rows, bytes } = spent
    Object.assign(spent, { rows: 0, bytes: 0 })
    if (bytes === 0) return
    countRead({ rows, bytes })
    const { ledger, quotas } = this.#deps
    await ledger.transaction(async (tx) => quotas.add(tx, projectId, { rows, bytes }))
  }

  /** The finished file, or the reason why there is none. */
  async openFile(taskId: string, range?: ByteRange): Promise<OpenedArtifact> {
    return this.#deps.store.open(
      (await requireFile(this.#deps.ledger, taskId)).artifact_key,
      range ? { range } : {},
    )
  }

  /** Where a CDN has the finished file, or null without one. */
  async publicFileUrl(taskId: string): Promise<string | null> {
    return this.#deps.store.publicUrl((await requireFile(this.#deps.ledger, taskId)).artifact_key)
  }

  /** What is known of the file; also when that is gone, for as long as the task is remembered. */
  async report(taskId: string): Promise<TaskReport> {
    const row = await this.#queries.find(taskId)
    const status = statusOf(row)
    const report = status === 'succeeded' ? await this.#reports.find(row.job_id) : undefined
    if (!report)
      throw new AppError(ERRORS.EXPORT_NOT_READY, `export ${taskId} is ${status}, so there is no report`)
    const finished_at = new Date(row.finished_at ?? 0).toISOString()
    return { task_id: taskId, project_id: row.project_id ?? '', finished_at, ...report }
  }

  /** The same, signed by this installation. */
  async manifest(taskId: string): Promise<Signed<TaskReport & { format: string }>> {
    return this.#deps.signer.sign({ format: MANIFEST_FORMAT, ...(await this.report(taskId)) })
  }

  /** What a callback carries: the task with its report, where it has one. */
  async told(taskId: string): Promise<ExportView & { report: TaskReport | null }> {
    const view = await this.get(taskId)
    if (view.status !== 'succeeded') return { ...view, report: null }
    const report = await this.report(taskId).catch((error: unknown) => {
      // Files of version 0.1.0 have none.
      if (isAppError(error, ERRORS.EXPORT_NOT_READY)) return null
      throw error
    })
    return { ...view, report }
  }

  /** What people are told of an end. The link is good for as long as the file is kept, unless the request says otherwise. */
  async notice(taskId: string): Promise<TaskNotice | undefined> {
    const row = await this.#queries.find(taskId).catch((error) => {
      if (isAppError(error, ERRORS.TASK_NOT_FOUND)) return undefined
      throw error
    })
    if (!row) return undefined
    const at = await this.#deps.ledger.now()
    const kept = row.removed_at === null ? (row.expires_at ?? at) : at
    let until = kept
    const view = this.#view(row, {}, (link) => {
      if (link?.hours !== undefined) until = Math.min(kept, at + link.hours * HOUR_MS)
      return Math.max(0, until - at)
    })
    const link = kept > at ? view.download_url : null
    return {
      status: view.status,
      succeeded: view.status === 'succeeded',
      name: view.file?.name ?? view.file_name,
      rows: view.file?.rows ?? null,
      bytes: view.file?.size ?? null,
      link,
      linkUntil: link && new Date(until).toISOString(),
      error: view.error && `${view.error.message} (${view.error.code})`,
      taskId,
    }
  }

  get publicKeys() {
    return this.#deps.signer.publicKeys
  }

  /** Counts a download without a key, where the request limits these; throws when none is left. */
  async useLink(taskId: string): Promise<void> {
    const { result } = await this.#queries.find(taskId)
    const { link } = JSON.parse(result ?? '{}') as Partial<ExportResult>
    if (link?.uses === undefined || (await this.#queries.takeUse(taskId, link.uses))) return
    const times = link.uses === 1 ? 'once' : `${link.uses} times`
    throw new AppError(ERRORS.LINK_USED_UP, `the file could be fetched by link ${times}, and has been`)
  }

  /** Deletes the file, and the rows that were kept, for all tasks that share it; the tasks stay. Safe to repeat: what a failed call left is deleted again. */
  async deleteFile(taskId: string): Promise<void> {
    const { job_id, project_id, artifact_key, result, ...row } = await this.#queries.find(taskId)
    const status = statusOf(row)
    if (status !== 'succeeded' || artifact_key === null)
      throw new AppError(ERRORS.EXPORT_NOT_READY, `export ${taskId} is ${status}, so there is no file`)
    const { size } = JSON.parse(result ?? '{}') as ExportResult
    const { ledger, quotas, store } = this.#deps
    // Marked first: nobody may begin to read what is about to go.
    await ledger.transaction(async (tx) => {
      if ((await this.#queries.markRemoved(tx, job_id)) && project_id !== null)
        quotas.add(tx, project_id, { disk: -size })
    })
    await store.delete(artifact_key)
    await this.#kept.remove(job_id)
  }

  async recordDownload(taskId: string, download: Omit<Download, 'at'>): Promise<void> {
    await this.#queries.recordDownload(taskId, download)
  }

  async #accept(tx: Tx, projectId: string, body: ExportBody, issuer: LinkIssuer = {}) {
    const project = await this.#deps.projects.require(tx, projectId)
    const asked = await this.#read(tx, projectId, body, issuer)
    if (body.notify) this.#options.checkNotify(body.notify)
    for (const { sql } of asked.tables)
      if (sql) await this.#deps.connections.requireGrant(tx, projectId, sql.connection)
    return { asked, project }
  }

  async #read(
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

  /** By whom a file is asked for: the operator, where one is named, and the key. */
  async #watermark(
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
