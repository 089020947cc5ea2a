import type { JobState } from '../../jobs/index.ts'
import { isActive } from '../../jobs/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { ArtifactOwner, FoundArtifact } from '../../storage/index.ts'

const PREFIX = 'exports/'
const KEY = /^exports\/([^/]+)\/(\d+)\/(?:file|rows-\d+)$/

/** The claim is part of the key: a worker that lost its job cannot touch its successor's file. */
export function exportKey({ id, fence }: { id: string; fence: number }): string {
  return `${PREFIX}${id}/${fence}/file`
}

/** The same for the rows of a table that are kept. */
export function keptKey({ id, fence }: { id: string; fence: number }, table: number): string {
  return `${PREFIX}${id}/${fence}/rows-${table}`
}

/**
 * The files of exports in the store. One is needed while its job refers to it, or while the claim that writes it may
 * still end the job. A job that has ended, or that was claimed again, refuses the end of an earlier claim for ever.
 */
export class ExportArtifacts implements ArtifactOwner {
  readonly prefix = PREFIX
  readonly #ledger: Ledger

  constructor({ ledger }: { ledger: Ledger }) {
    this.#ledger = ledger
  }

  async orphans(found: readonly FoundArtifact[]): Promise<string[]> {
    const claims = found.flatMap(({ key }) => {
      const [, jobId, fence] = KEY.exec(key) ?? []
      return jobId === undefined ? [] : [{ key, jobId, fence: Number(fence) }]
    })
    if (claims.length === 0) return []
    // One statement: an end is seen together with the file that it brought.
    const rows = await this.#ledger.db
      .selectFrom('jobs')
      .leftJoin('export_files', 'export_files.job_id', 'jobs.id')
      .leftJoin('export_rows', 'export_rows.job_id', 'jobs.id')
      .select(['jobs.id', 'jobs.state', 'jobs.fence', 'export_files.artifact_key', 'export_files.removed_at'])
      .select(['export_rows.tables', 'export_rows.removed_at as rows_removed_at'])
      .where('jobs.id', 'in', [...new Set(claims.map(({ jobId }) => jobId))])
      .execute()
    const jobs = new Map(rows.map((row) => [row.id, row]))
    return claims.flatMap(({ key, jobId, fence }) => {
      const job = jobs.get(jobId)
      if (!job) return []
      const isKept = job.rows_removed_at === null && job.tables?.includes(JSON.stringify(key))
      const isFile = (job.artifact_key === key && job.removed_at === null) || isKept
      const mayBecome = isActive(job.state as JobState) && job.fence <= fence
      return isFile || mayBecome ? [] : [key]
    })
  }
}
