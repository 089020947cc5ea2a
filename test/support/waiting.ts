import { sql } from 'kysely'
import { EXPORT_LANE } from '../../src/exports/export-job.ts'
import type { Engine } from '../../src/jobs/index.ts'

/** Nobody runs these: whichever gets a place is due only then. */
const LATER_MS = 3_600_000

/**
 * Exports that wait for a place, written in bulk: `many` of one owner, who was here first, and one of each of the others.
 */
export async function fillWaiting(
  { ledger, lanes }: Engine,
  { many, others }: { many: number; others: number },
): Promise<void> {
  const now = await ledger.now()
  const total = many + others
  const id = (what: string) => `'01900000-${what}-' || cast(20000000000 + i as text)`
  const whose = `case when i <= ${many} then 'owner-0' else 'owner-' || cast(i as text) end`
  const rows = (table: string, columns: string, values: string) =>
    sql
      .raw(
        `with recursive n(i) as (select cast(1 as bigint) union all select i + 1 from n where i < ${total})
        insert into ${table} (${columns}) select ${values} from n`,
      )
      .execute(ledger.db)
  const at = `cast(${now - 60_000 - total} + i as bigint)`
  await rows(
    'jobs',
    'id, kind, lane, owner, state, payload, due_at, wake_at, live_tasks, created_at, priority',
    `${id('wait')}, 'export', '${EXPORT_LANE}', ${whose}, 'waiting',
      '{"projectId":"' || ${whose} || '","request":{"fileName":"orders-' || cast(i as text) || '.csv","type":"csv","sourceUrl":"http://127.0.0.1:9/orders?rows=1000"}}',
      ${now + LATER_MS}, ${now + LATER_MS}, 1, ${at}, case when i % 5 = 0 then 1 else 0 end`,
  )
  await rows(
    'tasks',
    'id, job_id, kind, project_id, details, created_at, event_type, event_data',
    `${id('task')}, ${id('wait')}, 'export', ${whose}, 'null', ${at}, 'export.pending', '{"status":"pending"}'`,
  )
  if (ledger.dialect === 'postgres') await sql`vacuum analyze`.execute(ledger.db)
  await ledger.transaction((tx) => lanes.repair(tx, () => undefined))
}
