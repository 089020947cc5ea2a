import { sql } from 'kysely'
import { AppError, ERRORS, newId } from '../../kernel/index.ts'
import { type Ledger, now, type Tx } from '../../ledger/index.ts'
import type { JoinRequest } from '../transfer-request.ts'

const MOST_REMEMBERED = 10_000
/** Names the last change of owners by an admin; all instances compare it before they rely on what they remember. */
const CHANGED = 'businesses_changed'

/**
 * Who may send what where. A business belongs to the first project that uses it, for as long as that project exists;
 * a project sends to every agent unless it was given a list.
 */
export class Permissions {
  readonly #ledger: Ledger
  /** Owners as they were committed. They hold until an admin moves a business. */
  readonly #known = new Map<number, string>()
  #changed: string | null = null

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /**
   * For each request the reason why it is refused, or undefined, and what time it is. Unused businesses become their
   * first user's.
   */
  async check(tx: Tx, requests: JoinRequest[]): Promise<{ refusals: (AppError | undefined)[]; now: number }> {
    const { allowed, now: at } = await this.#allowed(tx, requests)
    const refusals = requests.map(({ projectId, target: { agentId } }) => {
      if (isAllowed(allowed.get(projectId) ?? null, agentId)) return undefined
      return new AppError(ERRORS.AGENT_NOT_ALLOWED, `this project may not send to agent ${agentId}`)
    })
    const unsure = requests.filter(
      ({ bizId, projectId }, index) => !refusals[index] && this.#known.get(bizId) !== projectId,
    )
    const owners = await this.#owners(tx, unsure)
    tx.afterCommit(() => this.#remember(owners))
    for (const [index, { bizId, projectId }] of requests.entries()) {
      const owner = owners.get(bizId) ?? this.#known.get(bizId)
      if (!refusals[index] && owner !== projectId)
        refusals[index] = new AppError(ERRORS.FORBIDDEN, `business ${bizId} belongs to another project`)
    }
    return { refusals, now: at }
  }

  #remember(owners: Map<number, string>): void {
    if (this.#known.size > MOST_REMEMBERED) this.#known.clear()
    for (const [bizId, owner] of owners) this.#known.set(bizId, owner)
  }

  /** The agents a project may send to: ids, or beginnings followed by a star; null: all. */
  async setAgents(tx: Tx, projectId: string, patterns: string[] | null): Promise<void> {
    if (patterns === null) {
      await tx.db.deleteFrom('transfer_agents').where('project_id', '=', projectId).execute()
      return
    }
    const row = { project_id: projectId, patterns: JSON.stringify(patterns) }
    await tx.db
      .insertInto('transfer_agents')
      .values(row)
      .onConflict((taken) => taken.column('project_id').doUpdateSet(row))
      .execute()
  }

  /** Also the ledger's time: one question less for each transaction. */
  async #allowed(tx: Tx, requests: JoinRequest[]): Promise<{ allowed: Map<string, string[]>; now: number }> {
    const projects = [...new Set(requests.map(({ projectId }) => projectId))]
    const { rows } = await sql<Allowed>`
      select wharf_now() as now, (select value from settings where key = ${CHANGED}) as changed, project_id, patterns
      from (select 1) as one
      left join transfer_agents on project_id in (${sql.join(projects)})`.execute(tx.db)
    const changed = rows[0]?.changed ?? null
    if (changed !== this.#changed) this.#known.clear()
    this.#changed = changed
    const allowed = new Map<string, string[]>()
    for (const { project_id, patterns } of rows)
      if (project_id !== null && patterns !== null) allowed.set(project_id, JSON.parse(patterns) as string[])
    return { allowed, now: Number(rows[0]?.now) }
  }

  async #owners(tx: Tx, requests: JoinRequest[]): Promise<Map<number, string>> {
    const wanted = new Map<number, string>()
    for (const { bizId, projectId } of requests) if (!wanted.has(bizId)) wanted.set(bizId, projectId)
    if (wanted.size === 0) return new Map()
    const ids = [...wanted.keys()].sort((a, b) => a - b)
    const owners = await this.#read(tx, ids)
    const free = ids.filter((id) => !owners.has(id))
    if (free.length === 0) return owners
    await tx.db
      .insertInto('transfer_businesses')
      .values(free.map((id) => ({ biz_id: id, project_id: wanted.get(id) as string, created_at: now })))
      // The ids of a deleted project are free; a living owner keeps its own.
      .onConflict((conflict) =>
        conflict
          .column('biz_id')
          .doUpdateSet(({ ref }) => ({ project_id: ref('excluded.project_id') }))
          .where('transfer_businesses.project_id', 'in', ({ selectFrom }) =>
            selectFrom('projects').select('projects.id').where('deleted_at', 'is not', null),
          ),
      )
      .execute()
    return this.#read(tx, ids)
  }

  async #read(tx: Tx, ids: number[]): Promise<Map<number, string>> {
    const rows = await tx.db
      .selectFrom('transfer_businesses')
      .innerJoin('projects', 'projects.id', 'transfer_businesses.project_id')
      .select(['biz_id', 'project_id'])
      .where('biz_id', 'in', ids)
      .where('projects.deleted_at', 'is', null)
      .execute()
    return new Map(rows.map((row) => [Number(row.biz_id), row.project_id]))
  }

  /** The businesses of a project. */
  async businesses(projectId: string): Promise<number[]> {
    const rows = await this.#ledger.db
      .selectFrom('transfer_businesses')
      .select('biz_id')
      .where('project_id', '=', projectId)
      .orderBy('biz_id')
      .execute()
    return rows.map((row) => Number(row.biz_id))
  }

  /** Exactly these belong to the project from now on: taken from others, and free again where they are no longer listed. */
  async setBusinesses(tx: Tx, projectId: string, bizIds: number[]): Promise<void> {
    await tx.db.deleteFrom('transfer_businesses').where('project_id', '=', projectId).execute()
    if (bizIds.length > 0)
      await tx.db
        .insertInto('transfer_businesses')
        .values(bizIds.map((id) => ({ biz_id: id, project_id: projectId, created_at: now })))
        .onConflict((taken) =>
          taken.column('biz_id').doUpdateSet(({ ref }) => ({ project_id: ref('excluded.project_id') })),
        )
        .execute()
    const value = newId()
    await tx.db
      .insertInto('settings')
      .values({ key: CHANGED, value, updated_at: now })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value, updated_at: now }))
      .execute()
  }

  /** Whether this project may send to an agent. */
  async ofProject(projectId: string): Promise<(agentId: string) => boolean> {
    const patterns = await this.agents(projectId)
    return (agentId) => isAllowed(patterns, agentId)
  }

  /** For the admin's eye. */
  async agents(projectId: string): Promise<string[] | null> {
    const row = await this.#ledger.db
      .selectFrom('transfer_agents')
      .select('patterns')
      .where('project_id', '=', projectId)
      .executeTakeFirst()
    return row ? (JSON.parse(row.patterns) as string[]) : null
  }
}

interface Allowed {
  now: number
  changed: string | null
  project_id: string | null
  patterns: string | null
}

/** null: all. */
function isAllowed(patterns: string[] | null, agentId: string): boolean {
  return patterns === null || patterns.some((pattern) => matches(pattern, agentId))
}

function matches(pattern: string, agentId: string): boolean {
  return pattern.endsWith('*') ? agentId.startsWith(pattern.slice(0, -1)) : agentId === pattern
}
