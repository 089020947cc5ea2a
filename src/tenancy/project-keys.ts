import { type Selectable, sql } from 'kysely'
import { AppError, ERRORS, newId, outageOf, type Scope } from '../kernel/index.ts'
import { type Ledger, now, type Tx } from '../ledger/index.ts'
import { hashSecret, newSecret } from './secrets.ts'
import type { ProjectKeysTable } from './tables.ts'

export interface ProjectKey {
  id: string
  projectId: string
  name: string
  scopes: readonly Scope[]
  createdAt: number
  expiresAt: number | null
  /** To the minute; null: never. */
  lastUsedAt: number | null
}

/** A key together with its project. */
export type FoundKey = ProjectKey & { projectName: string; projectCreatedAt: number }

export interface NewKey {
  name: string
  scopes: readonly Scope[]
  expiresAt?: number | null
  /** The project's own key, which a rotation replaces. */
  main?: boolean
}

/** What a permission depends on. Without a key and a session, the admin or Wharf itself gave it. */
export interface Grant {
  /** null: of the whole installation. */
  projectId: string | null
  keyId: string | null
  sessionId: string | null
}

/** How old the recorded last use of a key may be: a write per request would cost more than the request. */
const USE_NOTED_MS = 60_000

const KEY_FORM = /^wharf_[0-9a-f]{32}_[\w-]{43}$/

/**
 * The keys of projects; only their hashes are kept. Nothing of a key is remembered outside the ledger, so one that was
 * deleted is refused by every instance from the commit on.
 */
export class ProjectKeys {
  readonly #ledger: Ledger
  /** Keys whose use is being written. */
  readonly #noting = new Set<string>()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** The secret is shown this once. */
  async create(
    tx: Tx,
    projectId: string,
    { name, scopes, expiresAt = null, main = false }: NewKey,
  ): Promise<ProjectKey & { secret: string }> {
    if (expiresAt !== null && !(expiresAt > (await tx.now())))
      throw new AppError(ERRORS.REQUEST_INVALID, 'expires_at must be in the future')
    const secret = newSecret(`wharf_${projectId.replaceAll('-', '')}_`)
    const row = await tx.db
      .insertInto('project_keys')
      .values({
        id: newId(),
        project_id: projectId,
        name,
        hash: hashSecret(secret),
        scopes: JSON.stringify(scopes),
        main: main ? 1 : 0,
        created_at: now,
        expires_at: expiresAt,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { ...toKey(row), secret }
  }

  /** Those that are still good, oldest first. */
  async list(projectId: string): Promise<ProjectKey[]> {
    const rows = await this.#ledger.db
      .selectFrom('project_keys')
      .selectAll()
      .where('project_id', '=', projectId)
      .where(isGood)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map(toKey)
  }

  /** For people; its id if it has ended meanwhile. */
  async nameOf(keyId: string, { db }: Pick<Ledger, 'db'> = this.#ledger): Promise<string> {
    const row = await db.selectFrom('project_keys').select('name').where('id', '=', keyId).executeTakeFirst()
    return row?.name ?? keyId
  }

  /** Ends a key at once, and what it issued. */
  async end(tx: Tx, projectId: string, keyId: string): Promise<void> {
    const { numDeletedRows } = await tx.db
      .deleteFrom('project_keys')
      .where('project_id', '=', projectId)
      .where('id', '=', keyId)
      .executeTakeFirst()
    if (numDeletedRows === 0n)
      throw new AppError(ERRORS.KEY_NOT_FOUND, `project ${projectId} has no key ${keyId}`)
  }

  /** Gives the project a new key of its own. The ones before live until `oldUntil` at most. */
  async rotate(
    tx: Tx,
    projectId: string,
    oldUntil: number,
  ): Promise<ProjectKey & { secret: string; hadOne: boolean }> {
    const had = await tx.db
      .selectFrom('project_keys')
      .select('id')
      .where('project_id', '=', projectId)
      .where('main', '=', 1)
      .where(isGood)
      .limit(1)
      .executeTakeFirst()
    const mine = tx.db.updateTable('project_keys').where('project_id', '=', projectId).where('main', '=', 1)
    await mine
      .set({ expires_at: oldUntil })
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', oldUntil)]))
      .execute()
    // Keys that are over are of no use to anybody.
    await tx.db
      .deleteFrom('project_keys')
      .where('project_id', '=', projectId)
      .where('expires_at', '<=', now)
      .execute()
    const made = await this.create(tx, projectId, { name: 'main', scopes: ['all'], main: true })
    return { ...made, hadOne: had !== undefined }
  }

  async endAll(tx: Tx, projectId: string): Promise<void> {
    await tx.db.deleteFrom('project_keys').where('project_id', '=', projectId).execute()
  }

  /** The key that this secret belongs to, if it is good. Found by its hash: comparing takes no secret-dependent time. */
  async find(secret: string): Promise<FoundKey | undefined> {
    return KEY_FORM.test(secret) ? this.#find('hash', hashSecret(secret)) : undefined
  }

  /** The same for a key that was shown before, when a session was opened with it. */
  async findById(keyId: string): Promise<FoundKey | undefined> {
    return this.#find('id', keyId)
  }

  async #find(column: 'hash' | 'id', value: string): Promise<FoundKey | undefined> {
    const row = await this.#ledger.db
      .selectFrom('project_keys')
      .innerJoin('projects', 'projects.id', 'project_keys.project_id')
      .selectAll('project_keys')
      .select(['projects.name as project_name', 'projects.created_at as project_created_at', now.as('now')])
      .where(`project_keys.${column}`, '=', value)
      .where(isGood)
      .where('projects.deleted_at', 'is', null)
      .executeTakeFirst()
    if (row === undefined) return undefined
    await this.#noteUse(row.id, Number(row.now) - (row.last_used_at ?? 0))
    return { ...toKey(row), projectName: row.project_name, projectCreatedAt: row.project_created_at }
  }

  /** A ledger that takes no writes refuses no reader. */
  async #noteUse(keyId: string, unusedMs: number): Promise<void> {
    if (unusedMs < USE_NOTED_MS || this.#noting.has(keyId)) return
    this.#noting.add(keyId)
    try {
      await this.#ledger.db
        .updateTable('project_keys')
        .set({ last_used_at: now })
        .where('id', '=', keyId)
        .execute()
    } catch (error) {
      if (outageOf(error) === undefined) throw error
    } finally {
      this.#noting.delete(keyId)
    }
  }

  /** Which of these are over: the project is deleted, or the key is deleted or past its end. */
  async ended<G extends Grant>(grants: readonly G[]): Promise<G[]> {
    const unique = (ids: (string | null)[]) => [...new Set(ids.filter((id) => id !== null))]
    const projectIds = unique(grants.map(({ projectId }) => projectId))
    const projects =
      projectIds.length === 0
        ? []
        : await this.#ledger.db
            .selectFrom('projects')
            .select('id')
            .where('id', 'in', projectIds)
            .where('deleted_at', 'is', null)
            .execute()
    const keyIds = unique(grants.map(({ keyId }) => keyId))
    const keys =
      keyIds.length === 0
        ? []
        : await this.#ledger.db
            .selectFrom('project_keys')
            .select('id')
            .where('id', 'in', keyIds)
            .where(isGood)
            .execute()
    const good = new Set([...projects, ...keys].map(({ id }) => id))
    return grants.filter(({ projectId, keyId }) =>
      [projectId, keyId].some((id) => id !== null && !good.has(id)),
    )
  }
}

const isGood = sql<boolean>`(project_keys.expires_at is null or project_keys.expires_at > wharf_now())`

function toKey(row: Selectable<ProjectKeysTable>): ProjectKey {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    scopes: JSON.parse(row.scopes) as Scope[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  }
}
