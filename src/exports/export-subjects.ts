import { sql } from 'kysely'
import { jobsToNotice } from '../jobs/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { EXPORT_KIND } from './export-job.ts'

/** Exports that failed last and that wait longest, by the name of their file. */
export function exportsToNotice(ledger: Ledger) {
  const fileName =
    ledger.dialect === 'sqlite'
      ? sql<string>`jobs.payload ->> '$.request.fileName'`
      : sql<string>`jobs.payload::json #>> '{request,fileName}'`
  return jobsToNotice(ledger, EXPORT_KIND, async (jobIds) => {
    const rows = await ledger.db
      .selectFrom('tasks')
      .innerJoin('jobs', 'jobs.id', 'tasks.job_id')
      .select(['tasks.id', 'tasks.job_id', 'tasks.project_id', fileName.as('name')])
      .where('tasks.job_id', 'in', jobIds)
      .where('tasks.cancelled_at', 'is', null)
      .execute()
    // Of several who asked for the same, one is enough to lead to it.
    return new Map(rows.map(({ job_id, id, name, project_id }) => [job_id, { id, name, project_id }]))
  })
}
