import { sql } from 'kysely'
import { jobsToNotice } from '../jobs/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { EXPORT_KIND } from './export-job.ts'
import { isGivenName } from './request/index.ts'

/** Exports that failed last and that wait longest, by the name of their file, or by their title if that is only a time. */
export function exportsToNotice(ledger: Ledger) {
  const asked = (sqlite: string, postgres: string) =>
    ledger.dialect === 'sqlite'
      ? sql<string | null>`jobs.payload ->> ${sql.lit(sqlite)}`
      : sql<string | null>`jobs.payload::json #>> ${sql.lit(postgres)}`
  const fileName = asked('$.request.fileName', '{request,fileName}')
  const title = asked('$.request.tables[0].title', '{request,tables,0,title}')
  const saved = sql<string | null>`(select saved_exports.name from saved_export_runs
    join saved_exports on saved_exports.id = saved_export_runs.saved_id
    where saved_export_runs.task_id = tasks.id limit 1)`
  return jobsToNotice(ledger, EXPORT_KIND, async (jobIds) => {
    const rows = await ledger.db
      .selectFrom('tasks')
      .innerJoin('jobs', 'jobs.id', 'tasks.job_id')
      .select(['tasks.id', 'tasks.job_id', 'tasks.project_id'])
      .select([fileName.as('file_name'), title.as('title'), saved.as('saved_export')])
      .where('tasks.job_id', 'in', jobIds)
      .where('tasks.cancelled_at', 'is', null)
      .execute()
    // Of several who asked for the same, one is enough to lead to it.
    return new Map(
      rows.map(({ job_id, id, project_id, ...names }) => [job_id, { id, project_id, name: nameOf(names) }]),
    )
  })
}

interface Names {
  file_name: string | null
  title: string | null
  saved_export: string | null
}

function nameOf({ file_name, title, saved_export }: Names): string {
  const name = file_name ?? ''
  return isGivenName(name) ? name : (title ?? saved_export ?? name)
}
