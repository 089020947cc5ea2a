import { type RawBuilder, sql } from 'kysely'
import type { Ledger, Tx } from '../engine/index.ts'
import { jsonRows } from './json-rows.ts'
import { hashOf, TRANSFER_KIND } from './transfer-keys.ts'
import type { JoinRequest } from './transfer-request.ts'

export interface Joined {
  taskId: string
  jobId: string
}

/** What one join wrote, for whoever mirrors it. */
export interface JoinedTask extends Joined {
  windowId: string
  request: JoinRequest
  createdAt: number
}

const COLUMNS = {
  id: 'text',
  task_id: 'text',
  project_id: 'text',
  target_id: 'text',
  window_id: 'text',
  agent_id: 'text',
  container_id: 'text',
  owner: 'text',
  directory: 'text',
} as const

/** Targets, tasks and their first events: one statement, where the ledger can write three tables with one. */
export async function writeJoins(tx: Tx, dialect: Ledger['dialect'], tasks: JoinedTask[]): Promise<void> {
  const rows = jsonRows(dialect, COLUMNS, tasks.map(rowOf))
  if (dialect === 'postgres') {
    await sql`with r as materialized (select * from ${rows}),
      targets as (${insertTargets(sql`r`)}),
      tasks as (${insertTasks(sql`r`)})
      ${insertEvents(sql`r`)}`.execute(tx.db)
    return
  }
  for (const insert of [insertTargets, insertTasks, insertEvents]) await insert(rows).execute(tx.db)
}

function rowOf({ taskId, windowId, request: { projectId, target } }: JoinedTask) {
  const { agentId, containerId, user, directory } = target
  return {
    id: taskId.slice(-36),
    task_id: taskId,
    project_id: projectId,
    target_id: hashOf(JSON.stringify([windowId, agentId, containerId, user, directory])),
    window_id: windowId,
    agent_id: agentId,
    container_id: containerId,
    owner: user,
    directory,
  }
}

/** In one order: two joins with the same targets must not wait for each other in a circle. */
function insertTargets(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into transfer_targets (id, window_id, agent_id, container_id, owner, directory, status)
    select distinct target_id, window_id, agent_id, container_id, owner, directory, 'Pending' from ${rows} where true
    order by target_id on conflict (id) do nothing`
}

function insertTasks(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into transfer_tasks (id, target_id, created_at)
    select id, target_id, wharf_now() from ${rows}`
}

function insertEvents(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into events (type, kind, project_id, task_id, data, at)
    select 'transfer.pending', ${TRANSFER_KIND}, project_id, task_id, '{"status":"Pending"}', wharf_now() from ${rows}`
}
