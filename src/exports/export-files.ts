import { AppError, counted, ERRORS } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { ArtifactStore, ByteRange, OpenedArtifact } from '../storage/index.ts'
import type { Quotas } from '../tenancy/index.ts'
import type { ExportResult } from './export-job.ts'
import { type Download, ExportQueries } from './export-queries.ts'
import { type ExportRow, type ExportStatus, statusOf } from './export-view.ts'
import { KeptRowsStore } from './pipeline/index.ts'
import {
  type ExportReport,
  ExportReports,
  MANIFEST_FORMAT,
  type ManifestSigner,
  type PublicKeys,
  type Signed,
} from './report/index.ts'

export interface ExportFilesDeps {
  ledger: Ledger
  store: ArtifactStore
  quotas: Quotas
  signer: ManifestSigner
}

/** The files of finished exports: their bytes, their reports, and their downloads. */
export class ExportFiles {
  readonly #deps: ExportFilesDeps
  readonly #queries: ExportQueries
  readonly #reports: ExportReports

  constructor(deps: ExportFilesDeps) {
    this.#deps = deps
    this.#queries = new ExportQueries(deps.ledger)
    this.#reports = new ExportReports(deps)
  }

  async open(taskId: string, range?: ByteRange): Promise<OpenedArtifact> {
    const { artifact_key } = await requireFile(this.#deps.ledger, taskId)
    return this.#deps.store.open(artifact_key, range ? { range } : {})
  }

  /** The address of the file on a CDN, or null without one. */
  async publicUrl(taskId: string): Promise<string | null> {
    const { artifact_key } = await requireFile(this.#deps.ledger, taskId)
    return this.#deps.store.publicUrl(artifact_key)
  }

  /** Available for as long as the task is kept, even after the file is deleted. */
  async report(taskId: string): Promise<ExportReport> {
    const row = await this.#queries.find(taskId)
    const status = statusOf(row)
    const report = status === 'succeeded' ? await this.#reports.find(row.job_id) : undefined
    if (!report) throw withoutFile(taskId, status, 'there is no report')
    const finished_at = new Date(row.finished_at ?? 0).toISOString()
    return { task_id: taskId, project_id: row.project_id ?? '', finished_at, ...report }
  }

  /** The report, signed by this installation. */
  async manifest(taskId: string): Promise<Signed<ExportReport & { format: string }>> {
    return this.#deps.signer.sign({ format: MANIFEST_FORMAT, ...(await this.report(taskId)) })
  }

  get publicKeys(): PublicKeys {
    return this.#deps.signer.publicKeys
  }

  /** Counts a download without a key, if the request limits these; throws when none is left. */
  async useLink(taskId: string): Promise<void> {
    const { result } = await this.#queries.find(taskId)
    const { link } = JSON.parse(result ?? '{}') as Partial<ExportResult>
    if (link?.uses === undefined || (await this.#queries.takeUse(taskId, link.uses))) return
    const times = link.uses === 1 ? 'once' : counted(link.uses, 'time')
    throw new AppError(ERRORS.LINK_USED_UP, `the file could be fetched by link ${times}, and has been`)
  }

  /**
   * Deletes the file and the kept rows for all tasks that share them; the tasks stay. Safe to repeat after a failure.
   * Throws `EXPORT_EXPIRED` if the file had gone before and `onlyOnce` is set.
   */
  async delete(taskId: string, { onlyOnce = false } = {}): Promise<void> {
    const { job_id, project_id, artifact_key, result, ...row } = await this.#queries.find(taskId)
    const status = statusOf(row)
    if (status !== 'succeeded' || artifact_key === null) throw withoutFile(taskId, status, 'there is no file')
    const { size } = JSON.parse(result ?? '{}') as ExportResult
    const { ledger, quotas, store } = this.#deps
    // Marked first, so that no reader starts on a file that is about to be deleted.
    const isFirst = await ledger.transaction(async (tx) => {
      const marked = await this.#queries.markRemoved(tx, job_id)
      if (marked && project_id !== null) quotas.add(tx, project_id, { disk: -size })
      return marked
    })
    await store.delete(artifact_key)
    await new KeptRowsStore(this.#deps).remove(job_id)
    if (onlyOnce && !isFirst) throw fileGone(taskId, await this.#queries.find(taskId))
  }

  downloads(taskId: string): Promise<Download[]> {
    return this.#queries.downloads(taskId)
  }

  recordDownload(taskId: string, download: Omit<Download, 'at'>): Promise<void> {
    return this.#queries.recordDownload(taskId, download)
  }
}

/** Where the file of a finished export is; throws if it has none. */
export async function findExportFile(
  ledger: Ledger,
  taskId: string,
): Promise<{ projectId: string; artifactKey: string; name: string; sha256: string }> {
  const row = await requireFile(ledger, taskId)
  const { name, sha256 } = JSON.parse(row.result ?? '{}') as ExportResult
  return { projectId: row.project_id ?? '', artifactKey: row.artifact_key, name, sha256 }
}

async function requireFile(ledger: Ledger, taskId: string): Promise<ExportRow & { artifact_key: string }> {
  const row = await new ExportQueries(ledger).find(taskId)
  const status = statusOf(row)
  if (status !== 'succeeded' || row.artifact_key === null)
    throw withoutFile(taskId, status, 'there is no file')
  if (row.removed_at !== null || (await ledger.now()) >= (row.expires_at ?? 0)) throw fileGone(taskId, row)
  return { ...row, artifact_key: row.artifact_key }
}

/** Waiting helps only before the end. */
export function withoutFile(taskId: string, status: ExportStatus, so: string): AppError {
  const isOver = status === 'failed' || status === 'cancelled'
  const kind = isOver ? ERRORS.EXPORT_WITHOUT_FILE : ERRORS.EXPORT_NOT_READY
  return new AppError(kind, `export ${taskId} is ${status}, so ${so}`)
}

function fileGone(taskId: string, row: ExportRow): AppError {
  return new AppError(ERRORS.EXPORT_EXPIRED, `the file of export ${taskId} ${wasKept(row)}`)
}

function wasKept({ removed_at, expires_at }: ExportRow): string {
  const deleted = removed_at !== null && removed_at < (expires_at ?? 0)
  const at = new Date((deleted ? removed_at : expires_at) ?? 0).toISOString()
  return deleted ? `was deleted at ${at}` : `was kept until ${at}`
}
