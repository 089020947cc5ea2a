import { jobsToNotice } from '../../jobs/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import { TRANSFER_KIND } from '../transfer-keys.ts'

/** Deliveries that failed last and that wait longest. A window that still collects does not wait. */
export function transfersToNotice(ledger: Ledger) {
  return jobsToNotice(ledger, TRANSFER_KIND, async (jobIds) => {
    const rows = await ledger.db
      .selectFrom('transfer_windows')
      .select(['job_id', 'public_id', 'file_name', 'project_id'])
      .where('job_id', 'in', jobIds)
      .execute()
    return new Map(
      rows.map(({ job_id, public_id: id, file_name: name, project_id }) => [
        job_id ?? '',
        { id, name, project_id },
      ]),
    )
  })
}
