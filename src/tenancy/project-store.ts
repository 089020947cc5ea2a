import type { Selectable, UpdateObject } from 'kysely'
import { activeIn, type Bus } from '../jobs/index.ts'
import { AppError, ERRORS, newId, type Scope } from '../kernel/index.ts'
import { type Ledger, now, type Schema, type Tx } from '../ledger/index.ts'
import { type FoundKey, ProjectKeys } from './project-keys.ts'
import type { Sealer } from './sealer.ts'
import { newWebhookSecret } from './secrets.ts'
import type { ProjectsTable } from './tables.ts'

export interface Project {
  id: string
  name: string
  createdAt: number
}

/** Who shows a good key. */
export interface KeyHolder {
  project: Project
  keyId: string
  scopes: readonly Scope[]
}

export interface RotatedSecret {
  secret: string
  /** The new key; null for a webhook secret. */
  keyId: string | null
  /** When the old one ends; null when there was none. */
  oldUntil: number | null
}

export interface ProjectSecrets {
  apiKey: string
  webhookSecret: string
}

export interface ProjectStoreDeps {
  ledger: Ledger
  sealer: Sealer
  /** Gets a message when keys end, so that every instance closes what they opened. */
  bus: Bus
}

/** Business systems are projects. */
export class ProjectStore {
  readonly #deps: ProjectStoreDeps
  readonly keys: ProjectKeys

  constructor(deps: ProjectStoreDeps) {
    this.#deps = deps
    this.keys = new ProjectKeys(deps.ledger)
  }

  async create(tx: Tx, name: string): Promise<Project & ProjectSecrets> {
    const id = newId()
    const webhookSecret = newWebhookSecret()
    const row = await tx.db
      .insertInto('projects')
      .values({
        id,
        name,
        webhook_secret: this.#deps.sealer.seal(webhookSecret),
        created_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    const key = await this.keys.create(tx, id, { name: 'main', scopes: ['all'], main: true })
    return { ...toProject(row), apiKey: key.secret, webhookSecret }
  }

  async list(): Promise<Project[]> {
    const rows = await this.#deps.ledger.db
      .selectFrom('projects')
      .selectAll()
      .where('deleted_at', 'is', null)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map(toProject)
  }

  /** Throws unless there is such a project. */
  async require({ db }: Pick<Ledger, 'db'>, id: string): Promise<Project> {
    const row = await db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (!row) throw notFound(id)
    return toProject(row)
  }

  /** The project that a key belongs to and what it may do, if the key is good. */
  async authenticate(apiKey: string): Promise<KeyHolder | undefined> {
    return holderOf(await this.keys.find(apiKey))
  }

  /** The same for the key that a session was opened with. */
  async holder(keyId: string): Promise<KeyHolder | undefined> {
    return holderOf(await this.keys.findById(keyId))
  }

  /** Those of these that are there, oldest first. */
  async some(ids: readonly string[]): Promise<Project[]> {
    if (ids.length === 0) return []
    const rows = await this.#deps.ledger.db
      .selectFrom('projects')
      .selectAll()
      .where('id', 'in', ids)
      .where('deleted_at', 'is', null)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map(toProject)
  }

  async endKey(tx: Tx, id: string, keyId: string): Promise<void> {
    await this.keys.end(tx, id, keyId)
    this.#announce(tx)
  }

  #announce(tx: Tx): void {
    tx.afterCommit(() => this.#deps.bus.publish('keys', {}))
  }

  /** The secrets to sign with: the current one, and for a while after a rotation the one before. */
  async webhookSecrets(id: string): Promise<string[]> {
    const row = await this.#deps.ledger.db
      .selectFrom('projects')
      .select(['webhook_secret', 'webhook_secret_old', 'webhook_secret_old_until', now.as('now')])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row) throw notFound(id)
    const old = row.webhook_secret_old !== null && Number(row.now) < (row.webhook_secret_old_until ?? 0)
    const sealed = old ? [row.webhook_secret, row.webhook_secret_old as string] : [row.webhook_secret]
    return sealed.map((secret) => this.#deps.sealer.open(secret))
  }

  /** What is hidden in every file of the project, by column name. */
  async masks(id: string): Promise<Record<string, string>> {
    const row = await this.#deps.ledger.db
      .selectFrom('projects')
      .select('masks')
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row) throw notFound(id)
    return row.masks === null ? {} : (JSON.parse(row.masks) as Record<string, string>)
  }

  setMasks(tx: Tx, id: string, masks: Readonly<Record<string, string>>): void {
    changeProject(tx, id, { masks: JSON.stringify(masks) })
  }

  /** The old one stays good for `graceMs`, so that callers can change over; 0 ends it at once. */
  async rotate(
    tx: Tx,
    id: string,
    { what, graceMs }: { what: 'api_key' | 'webhook_secret'; graceMs: number },
  ): Promise<RotatedSecret> {
    const row = await tx.db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (!row) throw notFound(id)
    const oldUntil = (await tx.now()) + graceMs
    if (what === 'api_key') {
      const key = await this.keys.rotate(tx, id, oldUntil)
      this.#announce(tx)
      return { secret: key.secret, keyId: key.id, oldUntil: key.hadOne ? oldUntil : null }
    }
    const secret = newWebhookSecret()
    changeProject(tx, id, {
      webhook_secret: this.#deps.sealer.seal(secret),
      webhook_secret_old: graceMs > 0 ? row.webhook_secret : null,
      webhook_secret_old_until: oldUntil,
    })
    return { secret, keyId: null, oldUntil }
  }

  /** A project with unfinished work is not deleted: somebody still waits for it. */
  async delete(tx: Tx, id: string): Promise<void> {
    // Begins with the few jobs that are not done, and goes on to their tasks: the cross join gives SQLite the order, and
    // coalesce keeps it from reading all of the project's tasks per job.
    const busy = await tx.db
      .selectFrom('jobs')
      .crossJoin('tasks')
      .select('tasks.id')
      .where(activeIn())
      .whereRef('tasks.job_id', '=', 'jobs.id')
      .where(({ fn, val }) => fn.coalesce('tasks.project_id', val('')), '=', id)
      .where('tasks.cancelled_at', 'is', null)
      .limit(1)
      .executeTakeFirst()
    // Jobs whose tasks the domain keeps by itself have an owner only.
    const owned = await tx.db
      .selectFrom('jobs')
      .select('id')
      .where('owner', '=', id)
      .where(activeIn())
      .limit(1)
      .executeTakeFirst()
    if (busy || owned) {
      throw new AppError(
        ERRORS.PROJECT_BUSY,
        `project ${id} still has unfinished tasks: wait for them or cancel them`,
      )
    }
    const found = await tx.db
      .selectFrom('projects')
      .select('id')
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (!found) throw notFound(id)
    await this.keys.endAll(tx, id)
    changeProject(tx, id, { deleted_at: now })
    this.#announce(tx)
  }
}

function holderOf(key: FoundKey | undefined): KeyHolder | undefined {
  if (!key) return undefined
  const project = { id: key.projectId, name: key.projectName, createdAt: key.projectCreatedAt }
  return { project, keyId: key.id, scopes: key.scopes }
}

/** With the commit alone: every request of the project waits for its row. */
function changeProject(tx: Tx, id: string, change: UpdateObject<Schema, 'projects'>): void {
  const update = tx.db
    .updateTable('projects')
    .set(change)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
  tx.atCommit({
    name: `project ${id}: ${newId()}`,
    statements: () => [update.compile()],
    inTurn: () => update.execute(),
  })
}

function toProject(row: Selectable<ProjectsTable>): Project {
  return { id: row.id, name: row.name, createdAt: row.created_at }
}

function notFound(id: string): AppError {
  return new AppError(ERRORS.PROJECT_NOT_FOUND, `there is no project ${id}`)
}
