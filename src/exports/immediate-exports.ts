import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { AppError, clearAway, ERRORS, isAppError, makeFolder, newId } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { LinkIssuer, ProjectStore, Quotas } from '../tenancy/index.ts'
import { countRead } from './export-meter.ts'
import { type ProduceDeps, type Produced, produce } from './pipeline/index.ts'
import { type Preview, previewExport } from './preview/preview.ts'
import { type ExportBody, orShortage } from './request/index.ts'
import type { RequestReader } from './request-reader.ts'
import type { SqlConnections } from './sources/index.ts'
import type { MaskRules } from './template/index.ts'

export interface ImmediateExportsDeps extends ProduceDeps {
  ledger: Ledger
  projects: ProjectStore
  quotas: Quotas
  connections: SqlConnections
  /** The masks that a project demands, and the key of its hashes. */
  masksOf(projectId: string): Promise<MaskRules>
}

export interface ImmediateExportsOptions {
  dataDir: string
  sync: { maxRows: number; maxBytes: number }
  excel: { maxRows: number; maxBytes: number }
}

interface Spent {
  rows: number
  bytes: number
}

/** Exports whose caller waits for them: previews and `mode=sync`. They leave no task and no file. */
export class ImmediateExports {
  readonly #deps: ImmediateExportsDeps
  readonly #reader: RequestReader
  readonly #options: ImmediateExportsOptions

  constructor(deps: ImmediateExportsDeps, reader: RequestReader, options: ImmediateExportsOptions) {
    this.#deps = deps
    this.#reader = reader
    this.#options = options
  }

  async preview(
    projectId: string,
    given: ExportBody,
    signal: AbortSignal,
    issuer: LinkIssuer = {},
  ): Promise<Preview> {
    const { body } = await this.#reader.complete(this.#deps.ledger, projectId, given)
    const { keepRowsHours: _, ...request } = await this.#reader.read(
      this.#deps.ledger,
      projectId,
      body,
      issuer,
    )
    return this.#counted(projectId, async (spent) => {
      const mark = await this.#watermark(projectId, body, { id: 'preview', ...issuer })
      return this.#inFolder(async (directory) =>
        previewExport(this.#deps, {
          request: { ...request, ...mark },
          ...(await this.#sourceOf(projectId, body)),
          directory,
          signal,
          onRead: ({ rows, bytes }) => {
            spent.rows += rows
            spent.bytes += bytes
          },
        }),
      )
    })
  }

  /** Makes the file and passes it to `use`; then it is deleted. */
  async sync<T>(
    projectId: string,
    given: ExportBody,
    signal: AbortSignal,
    use: (file: Produced) => Promise<T>,
    issuer: LinkIssuer = {},
  ): Promise<T> {
    const { body } = await this.#reader.complete(this.#deps.ledger, projectId, given)
    refuseTaskFields(body)
    const asked = await this.#reader.read(this.#deps.ledger, projectId, body, issuer)
    const request = { ...asked, ...(await this.#watermark(projectId, body, { id: newId(), ...issuer })) }
    const { quotas } = this.#deps
    const { sync: own, excel } = this.#options
    return this.#counted(projectId, async (spent) => {
      try {
        return await this.#inFolder(async (directory) => {
          const produced = await produce(this.#deps, {
            request,
            ...(await this.#sourceOf(projectId, body)),
            directory,
            limits: await quotas.within(projectId, own),
            excel,
            signal,
            onProgress: ({ fetched, bytes }) => {
              spent.rows = fetched
              spent.bytes = bytes
            },
          })
          // Before the answer, so that a caller who has it sees it in its usage.
          await this.#count(projectId, spent)
          return await use(produced)
        })
      } catch (caught) {
        const read = { fetched: spent.rows, bytes: spent.bytes }
        throw adviseTask(await orShortage(quotas, projectId, { own, read, caught }))
      }
    })
  }

  async #sourceOf(projectId: string, { source_headers: sourceHeaders = {} }: ExportBody) {
    const { projects, connections } = this.#deps
    return {
      sourceHeaders,
      secrets: await projects.webhookSecrets(projectId),
      masks: await this.#deps.masksOf(projectId),
      openSql: (source, signal) => connections.open(projectId, source, signal),
    } satisfies Partial<Parameters<typeof produce>[1]>
  }

  async #watermark(projectId: string, body: ExportBody, issuer: { id: string } & LinkIssuer) {
    const { ledger, projects } = this.#deps
    return this.#reader.watermark(ledger, await projects.require(ledger, projectId), body, issuer)
  }

  /** Deleted after `work`. */
  async #inFolder<T>(work: (directory: string) => Promise<T>): Promise<T> {
    const directory = join(requestFolders(this.#options.dataDir), randomUUID())
    await makeFolder(directory)
    try {
      return await work(directory)
    } finally {
      await clearAway(directory)
    }
  }

  /** Holds one of the project's `requests_at_once`, and counts what was read, also after a failure. */
  async #counted<T>(projectId: string, work: (spent: Spent) => Promise<T>): Promise<T> {
    const { quotas } = this.#deps
    await quotas.require(projectId, 'rows_per_day', 'bytes_per_day')
    const release = await quotas.hold(projectId, 'requests_at_once')
    const spent = { rows: 0, bytes: 0 }
    try {
      return await work(spent)
    } finally {
      release()
      await this.#count(projectId, spent)
    }
  }

  /** Sets `spent` back to zero, so that nothing is counted twice. */
  async #count(projectId: string, spent: Spent): Promise<void> {
    const { rows, bytes } = spent
    Object.assign(spent, { rows: 0, bytes: 0 })
    if (bytes === 0) return
    countRead({ rows, bytes })
    const { ledger, quotas } = this.#deps
    await ledger.transaction(async (tx) => quotas.add(tx, projectId, { rows, bytes }))
  }
}

/** Fields about a task and its stored file: with `mode=sync` there is neither. */
const TASK_FIELDS = [
  'callback',
  'notify',
  'keep_hours',
  'keep_rows_hours',
  'link_hours',
  'link_uses',
] as const satisfies (keyof ExportBody)[]

function refuseTaskFields(body: ExportBody): void {
  const errors = TASK_FIELDS.filter((field) => body[field] !== undefined).map((path) => ({
    path,
    message: 'needs a task, and mode=sync makes none; leave it out, or send the request without mode=sync',
  }))
  if (errors.length === 0) return
  const detail = errors.map(({ path, message }) => `${path} ${message}`).join('; ')
  throw new AppError(ERRORS.REQUEST_INVALID, detail, { details: { errors } })
}

/** What is too large for an answer may be well within what a task may take. */
function adviseTask(error: unknown): unknown {
  if (!isAppError(error, ERRORS.SOURCE_TOO_LARGE)) return error
  const { kind, message, details } = error
  return new AppError(
    kind,
    `${message} with mode=sync; send the same request without mode=sync to get it as a task`,
    {
      details,
      retryable: false,
      cause: error,
    },
  )
}

/** Where each request that is answered at once has a folder while it lasts. */
export function requestFolders(dataDir: string): string {
  return join(dataDir, 'sync')
}
