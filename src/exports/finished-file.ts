import { AppError, ERRORS } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { ExportResult } from './export-job.ts'
import { ExportQueries } from './export-queries.ts'
import { type ExportRow, statusOf } from './export-view.ts'

/** The row of an export whose file is there, or the reason why it is not. */
export async function requireFile(
  ledger: Ledger,
  taskId: string,
): Promise<ExportRow & { artifact_key: string }> {
  const row = await new ExportQueries(ledger).find(taskId)
  const status = statusOf(row)
  if (status !== 'succeeded' || row.artifact_key === null)
    throw new AppError(ERRORS.EXPORT_NOT_READY, `export ${taskId} is ${status}, so there is no file`)
  if (row.removed_at !== null || (await ledger.now()) >= (row.expires_at ?? 0))
    throw new AppError(ERRORS.EXPORT_EXPIRED, `the file of export ${taskId} ${wasKept(row)}`)
  return { ...row, artifact_key: row.artifact_key }
}

/** Where the finished file of an export is, or the reason why there is none. */
export async function findExportFile(
  ledger: Ledger,
  taskId: string,
): Promise<{ projectId: string; artifactKey: string; name: string; sha256: string }> {
  const row = await requireFile(ledger, taskId)
  const { name, sha256 } = JSON.parse(row.result ?? '{}') as ExportResult
  return { projectId: row.project_id ?? '', artifactKey: row.artifact_key, name, sha256 }
}

function wasKept({ removed_at, expires_at }: ExportRow): string {
  const deleted = removed_at !== null && removed_at < (expires_at ?? 0)
  const at = new Date((deleted ? removed_at : expires_at) ?? 0).toISOString()
  return deleted ? `was deleted at ${at}` : `was kept until ${at}`
}
