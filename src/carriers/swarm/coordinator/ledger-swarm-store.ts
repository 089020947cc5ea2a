import { type Ledger, now } from '../../../ledger/index.ts'
import { agentPeerId, RESULT } from '../wire/index.ts'
import type {
  EnrolledAgent,
  SwarmAgent,
  SwarmStore,
  SwarmTarget,
  SwarmTask,
  TargetEnd,
} from './swarm-store.ts'

/** Keeps one statement below the number of parameters that both dialects take. */
const ROWS_A_STATEMENT = 500

export class LedgerSwarmStore implements SwarmStore {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  now(): Promise<number> {
    return this.#ledger.now()
  }

  async addTask(
    task: Omit<SwarmTask, 'deadline' | 'egress'> & { coordinator: string },
    timeoutMs: number,
  ): Promise<{ deadline: number }> {
    return this.#ledger.transaction(async (tx) => {
      const createdAt = await tx.now()
      const deadline = createdAt + timeoutMs
      const { id, localPath: local_path, fileName: file_name, projectId: project_id } = task
      const { manifest, coordinator } = task
      await tx.db
        .insertInto('swarm_tasks')
        .values({
          ...{ id, local_path, file_name, manifest, project_id, coordinator },
          created_at: createdAt,
          deadline,
        })
        .execute()
      const rows = task.targets.map((target) => targetRow(id, target))
      for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
        const some = rows.slice(at, at + ROWS_A_STATEMENT)
        await tx.db.insertInto('swarm_targets').values(some).execute()
      }
      return { deadline }
    })
  }

  async task(id: string): Promise<SwarmTask | undefined> {
    const { db } = this.#ledger
    const row = await db.selectFrom('swarm_tasks').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) return undefined
    const targets = await db.selectFrom('swarm_targets').selectAll().where('task_id', '=', id).execute()
    return {
      id,
      localPath: row.local_path,
      fileName: row.file_name,
      manifest: row.manifest,
      projectId: row.project_id,
      deadline: Number(row.deadline),
      egress: Number(row.egress),
      targets: targets.map((target) => ({
        key: agentPeerId(target.agent_id, target.container_id),
        agentId: target.agent_id,
        containerId: target.container_id,
        places: JSON.parse(target.places) as SwarmTarget['places'],
        code: target.error_code,
        message: target.error_message,
      })),
    }
  }

  async takeTask(id: string, coordinator: string): Promise<void> {
    await this.#ledger.db.updateTable('swarm_tasks').set({ coordinator }).where('id', '=', id).execute()
  }

  async coordinatedBy(coordinator: string, ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.#ledger.db
      .selectFrom('swarm_tasks')
      .select('id')
      .where('id', 'in', ids)
      .where('coordinator', '=', coordinator)
      .execute()
    return new Set(rows.map(({ id }) => id))
  }

  async openTasks(ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.#ledger.db
      .selectFrom('swarm_tasks')
      .select('id')
      .where('id', 'in', ids)
      .where('deadline', '>', now)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('swarm_targets')
            .select('swarm_targets.task_id')
            .whereRef('swarm_targets.task_id', '=', 'swarm_tasks.id')
            .where('error_code', '=', RESULT.DOWNLOADING),
        ),
      )
      .execute()
    return new Set(rows.map(({ id }) => id))
  }

  async keepResults(taskId: string, results: TargetEnd[], coordinator: string): Promise<boolean> {
    if (results.length === 0) return true
    return this.#ledger.transaction(async (tx) => {
      // Holds the row: nobody takes the task over between this and the commit.
      const held = await tx.db
        .updateTable('swarm_tasks')
        .set({ coordinator })
        .where('id', '=', taskId)
        .where('coordinator', '=', coordinator)
        .executeTakeFirst()
      if (held.numUpdatedRows === 0n) return false
      for (const { agentId, containerId, code, message, places } of results) {
        await tx.db
          .updateTable('swarm_targets')
          .set({
            error_code: code,
            error_message: message,
            ...(places && { places: JSON.stringify(places) }),
          })
          .where('task_id', '=', taskId)
          .where('agent_id', '=', agentId)
          .where('container_id', '=', containerId)
          .where('error_code', '=', RESULT.DOWNLOADING)
          .execute()
      }
      return true
    })
  }

  async keepEgress(taskId: string, bytes: number): Promise<void> {
    await this.#ledger.db
      .updateTable('swarm_tasks')
      .set({ egress: bytes })
      .where('id', '=', taskId)
      .where('egress', '<', bytes)
      .execute()
  }

  async sweep(olderThanMs: number): Promise<void> {
    const before = (await this.now()) - olderThanMs
    await this.#ledger.maintenance((db) =>
      db.deleteFrom('swarm_tasks').where('deadline', '<', before).execute(),
    )
  }

  async agentConnected(agent: Omit<SwarmAgent, 'connectedAt' | 'seenAt'>): Promise<void> {
    const { agentId: agent_id, containerId: container_id, instance, host, port, version } = agent
    const changing = { instance, host, port, version, connected_at: now, seen_at: now }
    await this.#ledger.db
      .insertInto('swarm_agents')
      .values({ agent_id, container_id, ...changing })
      .onConflict((conflict) => conflict.columns(['agent_id', 'container_id']).doUpdateSet(changing))
      .execute()
    await this.#ledger.db
      .updateTable('swarm_identities')
      .set({ last_seen_at: now, last_version: version })
      .where('agent_id', '=', agent_id)
      .where('container_id', '=', container_id)
      .where('revoked_at', 'is', null)
      .execute()
  }

  async agentGone({ agentId, containerId, instance }: Parameters<SwarmStore['agentGone']>[0]): Promise<void> {
    await this.#ledger.db
      .updateTable('swarm_identities')
      .set({ last_seen_at: now })
      .where('agent_id', '=', agentId)
      .where('container_id', '=', containerId)
      .where('revoked_at', 'is', null)
      .execute()
    await this.#ledger.db
      .deleteFrom('swarm_agents')
      .where('agent_id', '=', agentId)
      .where('container_id', '=', containerId)
      .where('instance', '=', instance)
      .execute()
  }

  async enrolled(): Promise<EnrolledAgent[]> {
    const rows = await this.#ledger.db
      .selectFrom('swarm_identities')
      .select(['agent_id', 'container_id', 'enrolled_at', 'last_seen_at', 'last_version'])
      .where('revoked_at', 'is', null)
      .orderBy('agent_id')
      .orderBy('container_id')
      .execute()
    return rows.map((row) => ({
      agentId: row.agent_id,
      containerId: row.container_id,
      enrolledAt: Number(row.enrolled_at),
      lastSeenAt: row.last_seen_at === null ? null : Number(row.last_seen_at),
      lastVersion: row.last_version,
    }))
  }

  async standing(
    agents: Parameters<SwarmStore['standing']>[0],
  ): Promise<Map<string, 'enrolled' | 'revoked'>> {
    const ids = [...new Set(agents.map(({ agentId }) => agentId))]
    const standing = new Map<string, 'enrolled' | 'revoked'>()
    // One that was revoked may be enrolled again, so that comes last.
    for (const as of ['revoked', 'enrolled'] as const)
      for (let from = 0; from < ids.length; from += ROWS_A_STATEMENT) {
        const rows = await this.#ledger.db
          .selectFrom('swarm_identities')
          .select(['agent_id', 'container_id'])
          .where('agent_id', 'in', ids.slice(from, from + ROWS_A_STATEMENT))
          .where('revoked_at', as === 'revoked' ? 'is not' : 'is', null)
          .execute()
        for (const { agent_id, container_id } of rows) standing.set(agentPeerId(agent_id, container_id), as)
      }
    return standing
  }

  async agentsGone(instance: string): Promise<void> {
    await this.#ledger.db
      .updateTable('swarm_identities')
      .set({ last_seen_at: now })
      .where('revoked_at', 'is', null)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('swarm_agents')
            .select('swarm_agents.agent_id')
            .where('instance', '=', instance)
            .whereRef('swarm_agents.agent_id', '=', 'swarm_identities.agent_id')
            .whereRef('swarm_agents.container_id', '=', 'swarm_identities.container_id'),
        ),
      )
      .execute()
    await this.#ledger.db.deleteFrom('swarm_agents').where('instance', '=', instance).execute()
  }

  async agentsSeen(instance: string): Promise<Pick<SwarmAgent, 'agentId' | 'containerId'>[]> {
    const rows = await this.#ledger.db
      .updateTable('swarm_agents')
      .set({ seen_at: now })
      .where('instance', '=', instance)
      .returning(['agent_id', 'container_id'])
      .execute()
    return rows.map(({ agent_id: agentId, container_id: containerId }) => ({ agentId, containerId }))
  }

  async agents(withinMs: number): Promise<SwarmAgent[]> {
    const rows = await this.#ledger.db
      .selectFrom('swarm_agents')
      .selectAll()
      .where('seen_at', '>=', (await this.now()) - withinMs)
      .orderBy('agent_id')
      .orderBy('container_id')
      .execute()
    return rows.map((row) => ({
      agentId: row.agent_id,
      containerId: row.container_id,
      instance: row.instance,
      host: row.host,
      port: row.port,
      version: row.version,
      connectedAt: Number(row.connected_at),
      seenAt: Number(row.seen_at),
    }))
  }
}

function targetRow(taskId: string, { agentId, containerId, places, code, message }: SwarmTarget) {
  return {
    task_id: taskId,
    agent_id: agentId,
    container_id: containerId,
    places: JSON.stringify(places),
    error_code: code,
    error_message: message,
  }
}
