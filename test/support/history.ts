import { type Kysely, sql } from 'kysely'
import { allowTime } from '../../src/ledger/allow-time.ts'
import type { Ledger, Schema } from '../../src/ledger/index.ts'

export interface HistoryOptions {
  /** Jobs are numbered: these have been written before. */
  from?: number
  /** Up to this number. */
  to: number
  /** Half of the history is the first one's. */
  projects: readonly [string, ...string[]]
}

const HOURS_BACK = 11

/**
 * Finished work of all domains, written in bulk: of twenty jobs twelve are exports, two runs, four deliveries and two
 * callbacks, and half as many tasks of the processing domain. All of it ended within the last hours, so nothing is past
 * its time and no duty clears it away. Rows are made by the database itself, in the same words on both ledgers.
 */
export async function fillHistory(ledger: Ledger, options: HistoryOptions): Promise<void> {
  const now = await ledger.now()
  await ledger.db.connection().execute(async (db) => {
    if (ledger.dialect === 'postgres') {
      await sql`set statement_timeout = 0`.execute(db)
      await allowTime(db, 3_600_000)
    }
    await insertAll(db, now, options)
    if (ledger.dialect === 'sqlite') return
    await sql`update events set seq = numbered.seq from (
        select id, row_number() over (order by id) + (select coalesce(max(seq), 0) from events) as seq
        from events where seq is null
      ) as numbered where events.id = numbered.id`.execute(db)
    await sql`vacuum analyze`.execute(db)
    await sql`reset statement_timeout`.execute(db)
  })
}

async function insertAll(
  db: Kysely<Schema>,
  now: number,
  { from = 0, to, projects }: HistoryOptions,
): Promise<void> {
  const past = HOURS_BACK * 3_600_000
  const rows = (table: string, columns: string, values: string, where = '1 = 1') =>
    sql
      .raw(
        `with recursive n(i) as (select cast(${from + 1} as bigint) union all select i + 1 from n where i < ${to})
        insert into ${table} (${columns}) select ${values} from n where ${where}`,
      )
      .execute(db)
  const id = (what: string, i = 'i') => `'01900000-${what}-' || cast(10000000000 + ${i} as text)`
  const at = `cast(${now - past} + (i - ${from}) * ${Math.floor((past / (to - from)) * 1_000)} / 1000 as bigint)`
  const project = `case ${projects
    .slice(1)
    .map((other, index) => `when i % ${2 * (projects.length - 1)} = ${2 * index + 1} then '${other}'`)
    .join(' ')} else '${projects[0]}' end`
  const owner = projects.length > 1 ? project : `'${projects[0]}'`
  const kind = `case when i % 20 < 12 then 'export' when i % 20 < 14 then 'run' when i % 20 < 18 then 'transfer' else 'callback' end`
  const state = `case when i % 97 = 0 then 'failed' when i % 89 = 0 then 'cancelled' else 'succeeded' end`
  const isExport = 'i % 20 < 12'
  const isRun = 'i % 20 in (12, 13)'
  const isTransfer = 'i % 20 between 14 and 17'
  const handle = `'account-' || cast(i % 50 as text)`
  await rows(
    'jobs',
    `id, kind, lane, owner, share_key, state, payload, result, error_code, error_message, attempts, fence, due_at,
      live_tasks, created_at, started_at, finished_at, delete_after`,
    `${id('job')}, ${kind}, case when ${isExport} then 'exports' when ${isRun} then 'runs' end,
      case when ${isRun} then ${handle} when i % 20 < 18 then ${owner} end,
      case when ${isExport} then 'share-' || cast(i as text) end, ${state},
      '{"projectId":"' || ${owner} || '","request":{"fileName":"orders-' || cast(i as text) || '.csv","type":"csv","sourceUrl":"http://127.0.0.1:9/orders?rows=1000"}}',
      '{"name":"orders-' || cast(i as text) || '.csv","size":48213,"sha256":"0","etag":"0","contentType":"text/csv","rows":1000,"parts":1,"artifactKey":"exports/0","warnings":[]}',
      case when i % 97 = 0 then 'SOURCE_FAILED' end, case when i % 97 = 0 then 'the source answered 500' end,
      1, 1, ${at}, case when i % 20 < 14 then 1 else 0 end, ${at}, ${at} + 20, ${at} + 900, ${now} + 864000000 + i`,
  )
  await rows(
    'tasks',
    'id, job_id, kind, project_id, label, details, created_at, callback, event_type, event_data',
    `${id('task')}, ${id('job')}, ${kind}, case when ${isExport} then ${owner} end,
      case when ${isExport} then 'operator-' || cast(i % 40 as text) end, 'null', ${at},
      case when i % 2 = 0 then 'http://127.0.0.1:9/told' end, ${kind} || '.pending', '{"status":"pending"}'`,
    `${isExport} or ${isRun}`,
  )
  for (const told of ['running', 'succeeded'])
    await rows(
      'events',
      'type, kind, project_id, task_id, job_id, data, at',
      `${kind} || '.${told}', ${kind}, case when ${isExport} then ${owner} end, ${id('task')}, ${id('job')},
        '{"status":"${told}"}', ${at} + 30`,
      `${isExport} or ${isRun}`,
    )
  await rows(
    'export_files',
    'job_id, artifact_key, expires_at',
    `${id('job')}, 'exports/' || cast(i as text), ${now} + 86400000 + i`,
    `${isExport} and ${state} = 'succeeded'`,
  )
  await rows(
    'export_reports',
    'job_id, report',
    `${id('job')}, '{"rows":1000}'`,
    `${isExport} and ${state} = 'succeeded'`,
  )
  await rows(
    'export_rows',
    'job_id, project_id, tables, size, expires_at',
    `${id('job')}, ${owner}, '[]', 1000, ${now} + 86400000 + i`,
    `${isExport} and ${state} = 'succeeded'`,
  )
  await rows(
    'export_downloads',
    'id, task_id, at, who, address, bytes, complete',
    `${id('down')}, ${id('task')}, ${at} + 5000, 'key', '127.0.0.1', 48213, 1`,
    `${isExport} and i % 3 = 0`,
  )
  await rows(
    'audit',
    'at, actor, action, project_id, target, address',
    `${at} + 5000, 'key ' || cast(i % 40 as text), 'export.downloaded', ${owner}, ${id('task')}, '127.0.0.1'`,
    `${isExport} and i % 3 = 0`,
  )
  await rows(
    'deliveries',
    'id, task_id, event_type, url, attempt, at, status, delivered',
    `${id('told')}, ${id('task')}, 'export.succeeded', 'http://127.0.0.1:9/told', 1, ${at} + 950, 204, 1`,
    `${isExport} and i % 2 = 0`,
  )
  // Of a project that nobody lists: their requests are sealed with nobody's key.
  const lender = `'${projects.at(-1)}'`
  await rows(
    'saved_exports',
    'id, project_id, name, request, parameters, created_at, updated_at',
    `${id('save')}, ${lender}, ${id('save')}, 'sealed', '{}', ${at}, ${at}`,
    `i <= ${from + 50}`,
  )
  await rows(
    'saved_export_runs',
    'id, saved_id, due_at, task_id, parameters, created_at',
    `${id('runs')}, ${id('save', `${from + 1} + i % 50`)}, ${at}, ${id('task')}, '{}', ${at}`,
    `${isExport} and i % 3 = 0`,
  )
  await rows(
    'template_versions',
    'project_id, name, version, template, created_at',
    `${lender}, 'template-' || cast(i % 50 as text), i, '{"id":"No."}', ${at}`,
    'i % 20 = 0',
  )
  await rows(
    'idempotency',
    'scope, key, fingerprint, status, headers, body, created_at',
    `${owner}, ${id('once')}, 'f', 202, '{}', 'sealed', ${at}`,
    `${isExport} and i % 5 = 0`,
  )
  await rows(
    'ended_work',
    'kind, at, failed, duration_ms',
    `${kind}, cast(${now - 3_300_000} + (i - ${from}) * ${Math.floor(3_300_000_000 / (to - from))} / 1000 as bigint), 0, 900`,
    'i % 5 = 0 and i % 20 < 18',
  )
  await rows('runs', 'id, job_id, handle', `${id('run')}, ${id('job')}, ${handle}`, isRun)
  await rows(
    'account_files',
    'handle, item_id, name, name_key, run_id, page, done, size',
    `${handle}, ${id('item')}, ${id('item')}, ${id('item')}, ${id('run')}, 1, 1, 4096`,
    isRun,
  )
  await rows(
    'processing_tasks',
    `id, project_id, file_name, size, original_file_path, status, result_path, queued_at, created_at, updated_at,
      seen_at, expires_at`,
    `${id('proc')}, ${owner}, 'film.mov', 4096, '/videos/film.mov',
      case when i % 97 = 0 then 'FAILED' else 'COMPLETED' end, '/videos/result.mp4', ${at}, ${at}, ${at}, ${at},
      ${now} + 86400000 + i`,
    'i % 2 = 0',
  )
  await rows(
    'transfer_windows',
    `id, public_id, job_id, project_id, biz_id, app_id, full_path, file_name, signature, bucket, ends_at, status,
      engine_task_id, created_at, executed_at, finished_at, targets, succeeded, file_size`,
    `${id('window')}, ${id('window')}, ${id('job')}, ${owner}, 5, 6, '/release/app.bin', 'app.bin', 'sha', i, ${at},
      'Success', ${id('swarm')}, ${at}, ${at}, ${at}, 2, 2, 17`,
    isTransfer,
  )
  await rows(
    'swarm_tasks',
    'id, local_path, file_name, manifest, created_at, deadline, egress',
    `${id('swarm')}, '/cache/app.bin', 'app.bin', '{}', ${at}, ${now} + i, 17`,
    isTransfer,
  )
  for (const agent of ['a', 'b']) {
    await rows(
      'transfer_targets',
      'id, window_id, agent_id, container_id, owner, directory, status, progress',
      `${id(`target-${agent}`)}, ${id('window')}, '${agent}', '', 'root', '/opt', 'Success', 100`,
      isTransfer,
    )
    await rows(
      'transfer_tasks',
      'id, target_id, created_at',
      `${id(`asked-${agent}`)}, ${id(`target-${agent}`)}, ${at}`,
      isTransfer,
    )
    await rows(
      'swarm_targets',
      'task_id, agent_id, container_id, places, error_code, error_message',
      `${id('swarm')}, '${agent}', '', '[]', 0, ''`,
      isTransfer,
    )
  }
  await rows(
    'repository_files',
    'project_id, path_hash, signature, path, size, artifact_key, put_at, superseded_at',
    `${owner}, ${id('path', 'i / 2')}, cast(i as text), 'release/' || cast(i / 2 as text), 17, 'k' || cast(i as text), ${at},
      case when i % 40 = 0 then ${now} end`,
    'i % 20 = 0',
  )
}

/** Makes some of the work unfinished again, so that statements over what is open have something to go through. */
export async function reopenSome({ db }: Ledger): Promise<void> {
  const some = (table: string, state: string, where: string) =>
    sql
      .raw(
        `update ${table} set ${state} where id in (select id from ${table} where ${where} order by id limit 20)`,
      )
      .execute(db)
  const finished = `state = 'succeeded' and kind = 'export'`
  await some('jobs', `state = 'waiting'`, finished)
  await some('jobs', `state = 'running', lease_until = 0`, finished)
  await some('processing_tasks', `status = 'PENDING'`, `status = 'COMPLETED'`)
  await some('transfer_windows', `status = 'Running'`, `status = 'Success'`)
}
