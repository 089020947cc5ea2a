import { jobsToNotice } from '../jobs/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { RUN_KIND } from './run-kind.ts'

/** Runs that failed last and that wait longest, by their account. */
export function runsToNotice(ledger: Ledger) {
  return jobsToNotice(ledger, RUN_KIND, async (jobIds) => {
    const rows = await ledger.db
      .selectFrom('runs')
      .select(['job_id', 'handle'])
      .where('job_id', 'in', jobIds)
      .execute()
    return new Map(rows.map(({ job_id, handle }) => [job_id, { id: handle, name: handle, project_id: null }]))
  })
}
