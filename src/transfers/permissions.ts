import { type Ledger, now, type Tx } from '../engine/index.ts'
import { AppError, ERRORS } from '../kernel/index.ts'
import type { JoinRequest } from './transfer-request.ts'

/**
 * Who may send what where. A business belongs to the first project that uses it, for as long as that project exists;
 * a project sends to every agent unless it was given a list.
 */
export class Permissions {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** For each request the reason why it is refused, or undefined. Unused businesses become their first user's. */
  async check(tx: Tx, requests: JoinRequest[]): Promise<(AppError | undefined)[]> {
    const allowed = await this.#allowed(tx, requests)
    const refusals = requests.map(({ projectId, target: { agentId } }) => {
      const patterns = allowed.get(projectId)
      if (!patterns || patterns.some((pattern) => matches(pattern, agentId))) return undefined
      return new AppError(ERRORS.AGENT_NOT_ALLOWED, `this project may not send to agent ${agentId}`)
    })
    const owners = await this.#owners(
      tx,
      requests.filter((_, index) => !refusals[index]),
    )
    return requests.map(({ bizId, projectId }, index) => {
      if (refusals[index] || owners.get(bizId) === projectId) return refusals[index]
      return new AppError(ERRORS.FORBIDDEN, `business ${bizId} belongs to another project`)
    })
  }

  /** The agents a project may send to: ids, or beginnings with a star behind; null: all. */
  async setAgents(tx: Tx, projectId: string, patterns: string[] | null): Promise<void> {
    await tx.db.deleteFrom('transfer_agents').where('project_id', '=', projectId).execute()
    if (patterns === null) return
    await tx.db
      .insertInto('transfer_agents')
      .values({ project_id: projectId, patterns: JSON.stringify(patterns) })
      .execute()
  }

  async #allowed(tx: Tx, requests: JoinRequest[]): Promise<Map<string, string[]>> {
    const rows = await tx.db
      .selectFrom('transfer_agents')
      .selectAll()
      .where('project_id', 'in', [...new Set(requests.map(({ projectId }) => projectId))])
      .execute()
    return new Map(rows.map((row) => [row.project_id, JSON.parse(row.patterns) as string[]]))
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
      // What a deleted project leaves behind is free; a living owner stays.
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

function matches(pattern: string, agentId: string): boolean {
  return pattern.endsWith('*') ? agentId.startsWith(pattern.slice(0, -1)) : agentId === pattern
}
