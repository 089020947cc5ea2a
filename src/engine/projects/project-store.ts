import type { Selectable } from 'kysely'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { newId } from '../id.ts'
import { activeIn } from '../job.ts'
import { type Ledger, now, type Tx } from '../ledger/ledger.ts'
import type { ProjectsTable } from '../ledger/schema.ts'
import type { Sealer } from '../sealer.ts'
import { hashSecret, matchesHash, newSecret, newWebhookSecret } from './secrets.ts'

export interface Project {
  id: string
  name: string
  createdAt: number
}

export interface ProjectSecrets {
  apiKey: string
  webhookSecret: string
}

/** After a rotation the old secret stays good for this long, so that callers can change over. */
const OLD_SECRET_MS = 24 * 3_600_000

const KEY_FORM = /^wharf_([0-9a-f]{32})_[\w-]{43}$/

/** Business systems are projects. A key names its project, so that one row answers for it and only hashes are kept. */
export class ProjectStore {
  readonly #deps: { ledger: Ledger; sealer: Sealer }

  constructor(deps: { ledger: Ledger; sealer: Sealer }) {
    this.#deps = deps
  }

  async create(tx: Tx, name: string): Promise<Project & ProjectSecrets> {
    const id = newId()
    const apiKey = newApiKey(id)
    const webhookSecret = newWebhookSecret()
    const row = await tx.db
      .insertInto('projects')
      .values({
        id,
        name,
        api_key_hash: hashSecret(apiKey),
        webhook_secret: this.#deps.sealer.seal(webhookSecret),
        created_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { ...toProject(row), apiKey, webhookSecret }
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

  /** The project that a key belongs to, if the key is good. */
  async authenticate(apiKey: string): Promise<Project | undefined> {
    const hex = KEY_FORM.exec(apiKey)?.[1]
    if (hex === undefined) return undefined
    const row = await this.#deps.ledger.db
      .selectFrom('projects')
      .selectAll()
      .select(now.as('now'))
      .where('id', '=', toUuid(hex))
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (!row) return undefined
    const current = matchesHash(apiKey, row.api_key_hash)
    const old = matchesHash(apiKey, row.api_key_old_hash) && Number(row.now) < (row.api_key_old_until ?? 0)
    return current || old ? toProject(row) : undefined
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

  async rotate(tx: Tx, id: string, what: 'api_key' | 'webhook_secret'): Promise<string> {
    const row = await tx.db
      .selectFrom('projects')
      .selectAll()
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (!row) throw notFound(id)
    const until = (await tx.now()) + OLD_SECRET_MS
    const fresh = what === 'api_key' ? newApiKey(id) : newWebhookSecret()
    const set =
      what === 'api_key'
        ? { api_key_hash: hashSecret(fresh), api_key_old_hash: row.api_key_hash, api_key_old_until: until }
        : {
            webhook_secret: this.#deps.sealer.seal(fresh),
            webhook_secret_old: row.webhook_secret,
            webhook_secret_old_until: until,
          }
    await tx.db.updateTable('projects').set(set).where('id', '=', id).execute()
    return fresh
  }

  /** A project with unfinished work is not deleted: somebody still waits for it. */
  async delete(tx: Tx, id: string): Promise<void> {
    // Begins with the few jobs that are not done, and goes on to their tasks: the cross join tells SQLite the order, and
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
    const result = await tx.db
      .updateTable('projects')
      .set({ deleted_at: now })
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (result.numUpdatedRows === 0n) throw notFound(id)
  }
}

function toProject(row: Selectable<ProjectsTable>): Project {
  return { id: row.id, name: row.name, createdAt: row.created_at }
}

function newApiKey(projectId: string): string {
  return newSecret(`wharf_${projectId.replaceAll('-', '')}_`)
}

function toUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function notFound(id: string): AppError {
  return new AppError(ERRORS.PROJECT_NOT_FOUND, `there is no project ${id}`)
}
