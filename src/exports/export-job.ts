import { stat } from 'node:fs/promises'
import { Completed, type Job, type JobContext, type JobKind, type WaitingFor } from '../jobs/index.ts'
import { AppError, ERRORS, isAppError, outageOf, traced } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { ArtifactStore } from '../storage/index.ts'
import { DiskReservations, type ProjectStore, type Quotas, type Sealer } from '../tenancy/index.ts'
import { countRead, countWritten } from './export-meter.ts'
import {
  exportKey,
  type KeptFile,
  KeptRowsStore,
  type KeptTable,
  keptKey,
  openTable,
  type ProduceDeps,
  type Produced,
  produce,
  type SealedTable,
  type SpoolFolders,
  type Stage,
} from './pipeline/index.ts'
import { type KeptWarning, keepReport, reportOf } from './report/index.ts'
import { type ExportRequest, orShortage } from './request/index.ts'
import type { SqlConnections, Trouble } from './sources/index.ts'
import type { MaskRules } from './template/index.ts'

export const EXPORT_KIND = 'export'
export const EXPORT_LANE = 'exports'
/** Exports beyond the limit that may run if their projects have none running: no project can hold all places. */
const EXPORT_RESERVE = 1

export interface ExportPayload {
  projectId: string
  request: Omit<ExportRequest, 'tables'> & { tables: SealedTable[] }
  /** JSON of the headers for the source, sealed; null without any. */
  sourceHeaders: string | null
}

export interface ExportProgress {
  stage: Stage
  fetched: number
  /** Null while it is unknown. */
  total: number | null
  /** Set while the source is asked again for a page that failed. */
  trouble?: Trouble
}

export interface ExportResult {
  name: string
  size: number
  sha256: string
  etag: string
  contentType: string
  rows: number
  parts: number
  artifactKey: string
  warnings: string[]
  /** By warning; results of earlier versions lack it. */
  warningDetails?: KeptWarning[]
  /** How links to it are limited, where the request says so. */
  link?: { hours?: number; uses?: number }
}

export interface ExportJobDeps extends ProduceDeps {
  store: ArtifactStore
  folders: SpoolFolders
  projects: ProjectStore
  quotas: Quotas
  ledger: Ledger
  sealer: Sealer
  /** What a project demands to be hidden, and the key of its hashes. */
  masksOf(projectId: string): Promise<MaskRules>
  connections: SqlConnections
}

export interface ExportJobOptions {
  concurrency: number
  timeoutMs: number
  /** How long the file is kept. */
  ttlMs: number
  limits: { maxRows: number; maxBytes: number }
  excel: { maxRows: number; maxBytes: number }
}

/**
 * Of exports that each hold a part of a full disk, none would ever end: after this many waits for room, one deletes its own
 * part. An embedded ledger needs room on that disk itself, so that an export can be put back or cancelled: there it is deleted
 * at once.
 */
const KEEPS_SPOOL_FOR = 5
/** How long a source may send next to nothing while others wait, the first time. */
const STALL_PATIENCE_MS = 15_000
const MOST_STALLS = 3
/** How long a task can still be asked about after its file is gone. */
const REMEMBERED_MS = 30 * 24 * 3_600_000
const HOUR_MS = 3_600_000

export function exportKind(
  deps: ExportJobDeps,
  options: ExportJobOptions,
): JobKind<ExportPayload, ExportResult> {
  return {
    name: EXPORT_KIND,
    domain: 'exports',
    pool: EXPORT_KIND,
    slots: options.concurrency + EXPORT_RESERVE,
    lane: {
      name: EXPORT_LANE,
      limit: { perInstance: options.concurrency },
      policy: 'fair',
      reserve: EXPORT_RESERVE,
    },
    maxAttempts: 3,
    timeoutMs: options.timeoutMs,
    keepMs: options.ttlMs + REMEMBERED_MS,
    goesOnAtHome: true,
    backoff: { base: 2_000, factor: 4, max: 60_000, jitter: 0.2 },
    describe: ({ what, progress, result, error, waitingFor }) => ({
      type: `${EXPORT_KIND}.${what === 'running' ? 'processing' : what}`,
      data: {
        status: what === 'running' || what === 'progress' ? 'processing' : what,
        stage:
          what === 'pending'
            ? 'queued'
            : what === 'running'
              ? 'fetching'
              : what === 'progress'
                ? (progress as ExportProgress).stage
                : 'done',
        ...(what === 'progress' && {
          progress: {
            fetched: (progress as ExportProgress).fetched,
            total: (progress as ExportProgress).total,
          },
          ...troubleOf(progress as ExportProgress),
        }),
        ...(what === 'succeeded' && { file: fileOf(result as ExportResult) }),
        ...(error && { error }),
        ...(waitingFor && { waiting_for: waitingFor }),
      },
    }),
    run: (context) => runExport(deps, options, context),
    // What is worth another attempt is the source's, unless the store refuses Wharf or it is a fault of Wharf.
    blames: ({ kind }) =>
      kind === ERRORS.JOB_FAILED ? null : kind === ERRORS.STORAGE_DENIED ? 'store' : 'source',
    givesUp: stalledTooOften,
  }
}

/** The source that a running export waits for, in the words of the view. */
export function troubleOf({ trouble }: ExportProgress): { waiting_for?: WaitingFor } {
  if (!trouble) return {}
  const { code, message } = trouble
  const iso = (at: number) => new Date(at).toISOString()
  return {
    waiting_for: {
      what: 'source',
      since: iso(trouble.since),
      code,
      message,
      next_try_at: trouble.nextTryAt === null ? null : iso(trouble.nextTryAt),
    },
  }
}

export function fileOf({ name, size, sha256, rows, parts }: ExportResult) {
  return { name, size, sha256, rows, parts }
}

async function runExport(deps: ExportJobDeps, options: ExportJobOptions, context: JobContext<ExportPayload>) {
  const { job, signal, progress } = context
  const { projectId } = job.payload
  const { quotas } = deps
  const kept = new KeptRowsStore(deps)
  // The total is that of an earlier attempt until the source has answered this one.
  const last = { fetched: 0, total: (job.progress as ExportProgress | null)?.total ?? null, bytes: 0 }
  let trouble: Trouble | undefined
  try {
    // What it waited for may have been changed on another instance a moment ago.
    if (job.outages > 0) quotas.forget(projectId)
    await quotas.require(projectId, 'disk_bytes', 'rows_per_day', 'bytes_per_day')
    const completed = await deps.folders.use(job.id, job.fence, async (directory) => {
      const { request, sourceHeaders } = job.payload
      const produced = await produce(
        { ...deps, log: context.log },
        {
          request: {
            ...request,
            tables: request.tables.map((table) => openTable(deps.sealer, table)),
          },
          sourceHeaders:
            sourceHeaders === null
              ? {}
              : (JSON.parse(deps.sealer.open(sourceHeaders)) as Record<string, string>),
          secrets: await deps.projects.webhookSecrets(projectId),
          masks: await deps.masksOf(projectId),
          openKept: (rows, signal) => kept.open(rows, signal),
          openSql: (source, signal) => deps.connections.open(projectId, source, signal),
          directory,
          limits: await quotas.within(projectId, options.limits),
          excel: options.excel,
          signal,
          brokenOff: job.crashes > 0 || fetchedIn(job.progress) > 0,
          onProgress({ bytes, ...step }) {
            const before = { rows: Math.max(last.fetched, fetchedIn(job.progress)), bytes: last.bytes }
            countRead({ rows: step.fetched - before.rows, bytes: bytes - before.bytes })
            if (step.fetched > before.rows) trouble = undefined
            Object.assign(last, step, { bytes })
            progress(step)
          },
          stall: { patienceMs: patience(job.outages), othersWait: () => context.othersWait() },
          onTrouble(met) {
            trouble = met
            progress({ ...shown(last), stage: 'fetching', trouble })
          },
        },
      )
      progress({ ...shown(last), stage: 'uploading' })
      return upload(deps, options, context, { ...produced, bytesRead: last.bytes })
    })
    await deps.folders.remove(job.id)
    return completed
  } catch (caught) {
    const error = await orShortage(quotas, projectId, {
      own: options.limits,
      read: last,
      caught: withTrouble(caught, trouble),
    })
    // The next attempt goes on with the spool, after an outage, a crash or a failure.
    const isFull = isAppError(outageOf(error), ERRORS.STORAGE_FULL)
    const inTheWay = isFull && (deps.ledger.dialect === 'sqlite' || job.outages >= KEEPS_SPOOL_FOR)
    if (context.isFinal(error) || inTheWay) await deps.folders.remove(job.id)
    if (context.isFinal(error) && last.bytes > 0)
      await count(deps, projectId, { rows: last.fetched, bytes: last.bytes })
    throw error
  }
}

/** Grows each time, so that a source which needs a minute for a page gets it in the end. */
function patience(outages: number): number {
  return STALL_PATIENCE_MS * 2 ** Math.min(outages, MOST_STALLS)
}

function fetchedIn(progress: unknown): number {
  return (progress as ExportProgress | null)?.fetched ?? 0
}

/** A source that failed until its place was given away did not just send nothing: why is said, and is what it gives up with. */
function withTrouble(caught: unknown, trouble: Trouble | undefined): unknown {
  const stalled = outageOf(caught)
  if (!trouble || !isAppError(stalled, ERRORS.SOURCE_STALLED)) return caught
  const kind = ERRORS[trouble.code as keyof typeof ERRORS] ?? ERRORS.SOURCE_TOO_SLOW
  return new AppError(
    ERRORS.SOURCE_STALLED,
    `the source failed while other exports waited: ${trouble.message}`,
    { cause: new AppError(kind, trouble.message), details: stalled.details },
  )
}

/** A source that sent nothing each time that the export had a place has used up an attempt. */
function stalledTooOften(outage: AppError, job: Job, progress: unknown): AppError | undefined {
  if (!isAppError(outage, ERRORS.SOURCE_STALLED) || job.outages < MOST_STALLS) return undefined
  if (fetchedIn(progress) > fetchedIn(job.progress)) return undefined
  const { cause, details } = outage
  if (isAppError(cause)) return new AppError(cause.kind, cause.message, { details })
  return new AppError(ERRORS.SOURCE_TOO_SLOW, outage.message, { details })
}

/** What was read counts, also when no file came of it. A ledger that is away now is no reason to read it all again. */
async function count(
  { quotas, ledger, log }: ExportJobDeps,
  projectId: string,
  spent: { rows: number; bytes: number },
) {
  await ledger
    .transaction(async (tx) => quotas.add(tx, projectId, spent))
    .catch((error) => log.warn({ err: error }, 'what an export has read was not counted'))
}

function shown({ fetched, total }: { fetched: number; total: number | null }) {
  return { fetched, total }
}

async function storeRows(
  store: ArtifactStore,
  { job, signal }: Pick<JobContext<ExportPayload>, 'job' | 'signal'>,
  kept: readonly KeptFile[],
): Promise<KeptTable[]> {
  const tables: KeptTable[] = []
  for (const [index, { path, table, rows }] of kept.entries()) {
    const key = keptKey(job, index)
    const options = {
      contentType: 'application/zstd',
      fileName: `rows-${index}.jsonl.zst`,
      signal,
      move: true,
    }
    const { sha256 } = await store.put(key, { path }, options)
    tables.push({ ...table, kept: { jobId: job.id, key, sha256, ...rows } })
  }
  return tables
}

function linkOf({
  linkHours: hours,
  linkUses: uses,
}: Pick<ExportRequest, 'linkHours' | 'linkUses'>): Pick<ExportResult, 'link'> {
  if (hours === undefined && uses === undefined) return {}
  return { link: { ...(hours !== undefined && { hours }), ...(uses !== undefined && { uses }) } }
}

async function upload(
  { store, quotas, ledger }: ExportJobDeps,
  { ttlMs }: ExportJobOptions,
  { job, signal }: JobContext<ExportPayload>,
  produced: Produced & { bytesRead: number },
): Promise<Completed<ExportResult>> {
  const { path, fileName, contentType, rows, parts } = produced
  const artifactKey = exportKey(job)
  const { projectId, request } = job.payload
  const reservations = new DiskReservations({ ledger, quotas })
  let keptSize = 0
  for (const kept of produced.kept ?? []) keptSize += (await stat(kept.path)).size
  await reservations.reserve(job.id, projectId, (await stat(path)).size + keptSize)
  let tables: KeptTable[] = []
  const stored = await traced('upload', {}, async (span) => {
    tables = await storeRows(store, { job, signal }, produced.kept ?? [])
    const put = await store.put(artifactKey, { path }, { contentType, fileName, signal, move: true })
    span.set({ 'wharf.file.bytes': put.size })
    return put
  }).catch(async (error) => {
    // Without a ledger, the next attempt has the same reservation.
    await reservations.release(job.id).catch(() => undefined)
    throw error
  })
  const link = linkOf(request)
  const result: ExportResult = {
    ...{ ...stored, name: fileName, contentType, rows, parts, artifactKey, ...link },
    warnings: produced.warnings.map(({ message }) => message),
    warningDetails: produced.warnings.map(({ message, ...kept }) => kept),
  }
  return new Completed(result, async (tx) => {
    const { keepHours } = request
    const expires_at = (await tx.now()) + (keepHours === undefined ? ttlMs : keepHours * HOUR_MS)
    await tx.db
      .insertInto('export_files')
      .values({
        job_id: job.id,
        artifact_key: artifactKey,
        expires_at,
        project_id: projectId,
        size: stored.size,
      })
      .execute()
    await keepReport(tx, job.id, reportOf(produced, stored))
    if (request.keepRowsHours !== undefined)
      await tx.db
        .insertInto('export_rows')
        .values({
          job_id: job.id,
          project_id: projectId,
          tables: JSON.stringify(tables),
          size: keptSize,
          expires_at: (await tx.now()) + request.keepRowsHours * HOUR_MS,
        })
        .execute()
    const reserved = (await reservations.settle(tx, job.id))?.size ?? 0
    quotas.add(tx, projectId, { rows, bytes: produced.bytesRead, disk: stored.size + keptSize - reserved })
    tx.afterCommit(() => countWritten({ rows, bytes: stored.size }))
  })
}
