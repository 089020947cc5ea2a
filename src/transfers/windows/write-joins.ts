import { type RawBuilder, sql } from 'kysely'
import type { Engine } from '../../jobs/index.ts'
import { jsonRows, type Ledger, type Tx } from '../../ledger/index.ts'
import { hashOf, TRANSFER_KIND } from '../transfer-keys.ts'
import type { JoinRequest } from '../transfer-request.ts'

export interface Joined {
  taskId: string
  jobId: string
}

/** What one join wrote, for the mirror. */
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

const PENDING_EVENT = {
  type: sql`'transfer.pending'`,
  kind: sql`${TRANSFER_KIND}`,
  project_id: sql`project_id`,
  task_id: sql`task_id`,
  job_id: sql`null`,
  data: sql`'{"status":"Pending"}'`,
}

/**
 * Targets, tasks and their first events: one statement, where the ledger can write three tables with one. Returns the
 * tasks whose place belongs to another owner in this window; the caller has to roll back then.
 */
export async function writeJoins(
  tx: Tx,
  { engine: { emitter }, ledger: { dialect } }: { engine: Engine; ledger: Ledger },
  tasks: JoinedTask[],
): Promise<JoinedTask[]> {
  const values = tasks.map(rowOf)
  const rows = jsonRows(dialect, COLUMNS, values)
  const owners = new Map<string, string>()
  const note = (targets: readonly Owned[]) => {
    for (const { id, owner } of targets) owners.set(id, owner)
  }
  if (dialect === 'postgres') {
    const { rows: made } = await sql<Owned>`with r as materialized (select * from ${rows}),
      targets as (${insertTargets(sql`r`)}),
      tasks as (${insertTasks(sql`r`)}),
      events as (${emitter.statement(tx, PENDING_EVENT, sql`from r`)})
      select id, owner from targets`.execute(tx.db)
    note(made)
  } else {
    note((await insertTargets(rows).execute(tx.db)).rows)
    await insertTasks(rows).execute(tx.db)
    await emitter.statement(tx, PENDING_EVENT, sql`from ${rows}`).execute(tx.db)
  }
  // What was not made here was there before, perhaps by a request that was committed a moment ago.
  const others = [...new Set(values.map(({ target_id }) => target_id))].filter((id) => !owners.has(id))
  if (others.length > 0) note(await readOwners(tx, others))
  return tasks.filter((_, index) => owners.get(values[index]!.target_id) !== values[index]!.owner)
}

interface Owned {
  id: string
  owner: string
}

function readOwners(tx: Tx, ids: string[]): Promise<Owned[]> {
  return tx.db.selectFrom('transfer_targets').select(['id', 'owner']).where('id', 'in', ids).execute()
}

function rowOf({ taskId, windowId, request: { projectId, target } }: JoinedTask) {
  const { agentId, containerId, user, directory } = target
  return {
    id: taskId.slice(-36),
    task_id: taskId,
    project_id: projectId,
    target_id: hashOf(JSON.stringify([windowId, agentId, containerId, directory])),
    window_id: windowId,
    agent_id: agentId,
    container_id: containerId,
    owner: user,
    directory,
  }
}

/** In one order: two joins with the same targets must not wait for each other in a circle. */
function insertTargets(rows: RawBuilder<unknown>): RawBuilder<Owned> {
  return sql`insert into transfer_targets (id, window_id, agent_id, container_id, owner, directory, status)
    select distinct target_id, window_id, agent_id, container_id, owner, directory, 'Pending' from ${rows} where true
    order by target_id on conflict (id) do nothing returning id, owner`
}

function insertTasks(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into transfer_tasks (id, target_id, created_at)
    select id, target_id, wharf_now() from ${rows}`
}
