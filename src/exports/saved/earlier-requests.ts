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
    request: Type.Unknown({ description: 'without its secrets, with dates and parameters filled in' }),
    written: Type.Unknown({
      description:
        'the same as it was written, with its `{{…}}` and `parameters`; null: nothing was filled in, or it is not known',
    }),
    sealed: Type.Array(Type.String(), { description: 'the secrets that it has' }),
  },
  { title: 'ExportAskedFor' },
)

/** A request before its dates and parameters were filled in, and whose days the dates are. */
export interface Written {
  body: ExportBody
  timezone: string
}

/** Requests of exports as they came, sealed as a whole beside their tasks: to be shown, and asked for again. */
export class EarlierRequests {
  readonly #sealer: Sealer

  constructor(sealer: Sealer) {
    this.#sealer = sealer
  }

  /** What a task remembers of its request: as it was carried out, and as it was written where that is another thing. */
  keep(body: ExportBody, written: Written | undefined): { request: string; written?: string } {
    const seal = (value: object) => this.#sealer.seal(JSON.stringify(value))
    const request = alone(body)
    const { parameters: _, ...template } = alone(written?.body ?? body)
    const isFilled = written !== undefined && JSON.stringify(template) !== JSON.stringify(request)
    return {
      request: seal(request),
      ...(isFilled && { written: seal({ ...written, body: alone(written.body) }) }),
    }
  }

  async shown(db: Database, taskId: string): Promise<AskedFor> {
    const { request, written } = await this.ofTask(db, taskId)
    const { shown, sealed } = hideSecrets(request as Json)
    return { request: shown, written: written ? hideSecrets(written.body as Json).shown : null, sealed }
  }

  async ofTask({ db }: Database, taskId: string): Promise<{ request: ExportBody; written?: Written }> {
    const task = await db.selectFrom('tasks').select('details').where('id', '=', taskId).executeTakeFirst()
    const { request, written } = (JSON.parse(task?.details ?? 'null') ?? {}) as Kept
    if (request === undefined)
      throw new AppError(
        ERRORS.REQUEST_NOT_KEPT,
        `the request of export ${taskId} is not known: it was made of kept rows, or by an older version`,
      )
    const open = <T>(text: string) => JSON.parse(this.#sealer.open(text)) as T
    return {
      request: open<ExportBody>(request),
      ...(written !== undefined && { written: open<Written>(written) }),
    }
  }

  /** The request with the secrets that it takes from an earlier one of the same project. */
  async complete<B extends ExportBody>(db: Database, projectId: string, given: B): Promise<B> {
    const { sealed_from, ...body } = given
    if (!sealed_from) return withoutPlaceholders(given)
    const [before, written] =
      'task_id' in sealed_from
        ? await this.#ofOwnTask(db, projectId, sealed_from.task_id)
        : await this.#ofSaved(db, projectId, sealed_from.saved_export)
    return withoutPlaceholders(keepSecrets(body, before, written) as B)
  }

  /** Both forms: either may be what is sent again, and a word in an address makes it another address. */
  async #ofOwnTask(db: Database, projectId: string, taskId: string): Promise<[Json, Json | undefined]> {
    const own = await db.db
      .selectFrom('tasks')
      .select('project_id')
      .where('id', '=', taskId)
      .executeTakeFirst()
    if (own?.project_id !== projectId)
      throw new AppError(ERRORS.TASK_NOT_FOUND, `there is no export ${taskId}`)
    const { request, written } = await this.ofTask(db, taskId)
    return [request as Json, written?.body as Json | undefined]
  }

  async #ofSaved({ db }: Database, projectId: string, name: string): Promise<[Json, undefined?]> {
    const saved = await db
      .selectFrom('saved_exports')
      .select('request')
      .where('project_id', '=', projectId)
      .where('name', '=', name)
      .executeTakeFirst()
    if (!saved) throw noSavedExport(name)
    return [JSON.parse(this.#sealer.open(saved.request)) as Json]
  }
}

interface Kept {
  request?: string
  written?: string
}

/** Whose it is and where its secrets came from is known by other means. */
function alone({ project_id: _, sealed_from: __, ...body }: ExportBody): ExportBody {
  return body
}

export function noSavedExport(name: string): AppError {
  return new AppError(ERRORS.SAVED_EXPORT_NOT_FOUND, `there is no saved export '${name}' in this project`)
}
