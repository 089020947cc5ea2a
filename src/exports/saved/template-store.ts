import { type Static, Type } from 'typebox'
import { Time } from '../../jobs/index.ts'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { type Ledger, now, type Tx } from '../../ledger/index.ts'
import { Template } from '../request/index.ts'
import { parseTemplate } from '../template/index.ts'
import { namedPage, requireRoom, requireShown } from './named-rows.ts'

const Summary = {
  name: Type.String(),
  version: Type.Integer({ description: 'grows with each change, also over a deletion' }),
  created_at: Time,
  updated_at: Time,
}
export type TemplateView = Static<typeof TemplateSummary>
export const TemplateSummary = Type.Object(Summary, { title: 'TemplateSummary' })

export const StoredTemplate = Type.Object({ ...Summary, template: Template }, { title: 'StoredTemplate' })

export interface TemplateVersion {
  name: string
  version: number
  template: unknown
}

/** What a PUT has done; `unchanged` makes no new version. */
export type Outcome = 'created' | 'changed' | 'unchanged'

type Database = Pick<Ledger, 'db'>

/** Templates that a project's requests use by name. Versions are kept: a finished export may be asked which one it used. */
export class TemplateStore {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** With `dryRun` nothing is stored, and the answer says what would be. */
  async put(
    tx: Tx,
    { projectId, name, dryRun = false }: { projectId: string; name: string; dryRun?: boolean },
    template: unknown,
  ): Promise<{ outcome: Outcome }> {
    requireShown(name)
    if (template === null || typeof template !== 'object')
      throw new AppError(ERRORS.TEMPLATE_INVALID, 'template must be a list or an object')
    if (nameInUse(template) !== undefined)
      throw new AppError(ERRORS.TEMPLATE_INVALID, 'template is itself the name of a template')
    parseTemplate(template)
    const text = JSON.stringify(template)
    const before = await this.#row(tx, projectId, name)
    if (!before || before.deleted_at !== null) await requireRoom(this.#names(tx, projectId))
    const same = before?.deleted_at === null && before.template === text
    const outcome = same ? 'unchanged' : before?.deleted_at === null ? 'changed' : 'created'
    if (same || dryRun) return { outcome }
    // Another change at the same time waits here, and then takes the next number.
    const { version } = await tx.db
      .insertInto('templates')
      .values({ project_id: projectId, name, version: 1, created_at: now, updated_at: now, deleted_at: null })
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'name']).doUpdateSet(({ ref }) => ({
          version: ({ eb }) => eb(ref('templates.version'), '+', 1),
          updated_at: now,
          deleted_at: null,
        })),
      )
      .returning('version')
      .executeTakeFirstOrThrow()
    await tx.db
      .insertInto('template_versions')
      .values({ project_id: projectId, name, version, template: text, created_at: now })
      .execute()
    return { outcome }
  }

  /** Without `version` the newest; an old one is found also when the name was deleted. */
  async get(
    projectId: string,
    name: string,
    { version, db = this.#ledger }: { version?: number; db?: Database } = {},
  ): Promise<TemplateView & TemplateVersion> {
    const row = await this.#row(db, projectId, name, version)
    if (!row || (version === undefined && row.deleted_at !== null)) throw notFound(name, version)
    return {
      name,
      version: row.version,
      template: JSON.parse(row.template),
      created_at: iso(row.created_at),
      updated_at: iso(row.updated_at),
    }
  }

  /** By name. */
  async list(
    projectId: string,
    page: { limit: number; cursor?: string },
  ): Promise<{ items: TemplateView[]; next_cursor: string | null }> {
    const query = this.#names(this.#ledger, projectId).orderBy('name')
    return namedPage(page, async (after, limit) => {
      const rows = await query.where('name', '>', after).limit(limit).execute()
      return rows.map((row) => ({
        ...row,
        created_at: iso(row.created_at),
        updated_at: iso(row.updated_at),
      }))
    })
  }

  async delete(tx: Tx, projectId: string, name: string): Promise<void> {
    const { numUpdatedRows } = await tx.db
      .updateTable('templates')
      .set({ deleted_at: now, updated_at: now })
      .where('project_id', '=', projectId)
      .where('name', '=', name)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw notFound(name)
  }

  #names({ db }: Database, projectId: string) {
    return db
      .selectFrom('templates')
      .select(['name', 'version', 'created_at', 'updated_at'])
      .where('project_id', '=', projectId)
      .where('deleted_at', 'is', null)
  }

  #row({ db }: Database, projectId: string, name: string, version?: number) {
    return db
      .selectFrom('templates')
      .innerJoin('template_versions', (join) =>
        join
          .onRef('template_versions.project_id', '=', 'templates.project_id')
          .onRef('template_versions.name', '=', 'templates.name'),
      )
      .select([
        'template_versions.version',
        'template_versions.template',
        'template_versions.created_at as updated_at',
        'templates.created_at',
        'templates.deleted_at',
      ])
      .where('templates.project_id', '=', projectId)
      .where('templates.name', '=', name)
      .where(({ eb, ref }) =>
        eb('template_versions.version', '=', version === undefined ? ref('templates.version') : version),
      )
      .executeTakeFirst()
  }
}

/** The name that `{"use": name}` says. A column called `use` is written as a node, or has the titles of other columns beside it. */
export function nameInUse(template: unknown): string | undefined {
  if (typeof template !== 'object' || template === null || Array.isArray(template)) return undefined
  const { use: name, ...others } = template as Record<string, unknown>
  if (typeof name !== 'string') return undefined
  const beside = Object.entries(others)
  if (beside.length === 0) return name
  if (beside.every(([key, value]) => typeof value !== 'string' || key === 'version'))
    throw new AppError(
      ERRORS.TEMPLATE_INVALID,
      `template: {"use": ${JSON.stringify(name)}} takes the newest version and no other field, found ${beside.map(([key]) => key).join(', ')}`,
      { retryable: false },
    )
  return undefined
}

function notFound(name: string, version?: number): AppError {
  const which = version === undefined ? `'${name}'` : `'${name}' in version ${version}`
  return new AppError(ERRORS.TEMPLATE_NOT_FOUND, `there is no template ${which} in this project`, {
    retryable: false,
  })
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
