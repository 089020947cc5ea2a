import { type Static, Type } from 'typebox'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { Sealer } from '../../tenancy/index.ts'
import type { ExportBody } from '../request/index.ts'
import { hideSecrets, type Json } from './hide-secrets.ts'
import { keepSecrets, withoutPlaceholders } from './keep-secrets.ts'

type Database = Pick<Ledger, 'db'>

/** The request of an export as it is shown. */
export type AskedFor = Static<typeof AskedFor>
export const AskedFor = Type.Object(
  {
    request: Type.Unknown({ description: 'without its secrets' }),
    sealed: Type.Array(Type.String(), { description: 'the secrets that it has' }),
  },
  { title: 'ExportAskedFor' },
)

/** Requests of exports as they came, sealed as a whole beside their tasks: to be shown, and asked for again. */
export class EarlierRequests {
  readonly #sealer: Sealer

  constructor(sealer: Sealer) {
    this.#sealer = sealer
  }

  /** What a task remembers of its request. */
  keep({ project_id: _, sealed_from: __, ...body }: ExportBody): string {
    return this.#sealer.seal(JSON.stringify(body))
  }

  async shown(db: Database, taskId: string): Promise<AskedFor> {
    const { shown, sealed } = hideSecrets((await this.ofTask(db, taskId)) as Json)
    return { request: shown, sealed }
  }

  async ofTask({ db }: Database, taskId: string): Promise<ExportBody> {
    const task = await db.selectFrom('tasks').select('details').where('id', '=', taskId).executeTakeFirst()
    const { request } = (JSON.parse(task?.details ?? 'null') ?? {}) as { request?: string }
    if (request === undefined)
      throw new AppError(
        ERRORS.REQUEST_NOT_KEPT,
        `the request of export ${taskId} is not known: it was made of kept rows, or by an older version`,
      )
    return JSON.parse(this.#sealer.open(request)) as ExportBody
  }

  /** The request with the secrets that it takes from an earlier one of the same project. */
  async complete<B extends ExportBody>(db: Database, projectId: string, given: B): Promise<B> {
    const { sealed_from, ...body } = given
    if (!sealed_from) return withoutPlaceholders(given)
    const before =
      'task_id' in sealed_from
        ? await this.#ofOwnTask(db, projectId, sealed_from.task_id)
        : await this.#ofSaved(db, projectId, sealed_from.saved_export)
    return withoutPlaceholders(keepSecrets(body, before as Json) as B)
  }

  async #ofOwnTask(db: Database, projectId: string, taskId: string): Promise<ExportBody> {
    const own = await db.db
      .selectFrom('tasks')
      .select('project_id')
      .where('id', '=', taskId)
      .executeTakeFirst()
    if (own?.project_id !== projectId)
      throw new AppError(ERRORS.TASK_NOT_FOUND, `there is no export ${taskId}`)
    return this.ofTask(db, taskId)
  }

  async #ofSaved({ db }: Database, projectId: string, name: string): Promise<unknown> {
    const saved = await db
      .selectFrom('saved_exports')
      .select('request')
      .where('project_id', '=', projectId)
      .where('name', '=', name)
      .executeTakeFirst()
    if (!saved) throw noSavedExport(name)
    return JSON.parse(this.#sealer.open(saved.request))
  }
}

export function noSavedExport(name: string): AppError {
  return new AppError(ERRORS.SAVED_EXPORT_NOT_FOUND, `there is no saved export '${name}' in this project`)
}
