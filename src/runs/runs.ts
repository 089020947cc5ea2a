import type { Static } from 'typebox'
import type { Engine, Enqueued } from '../jobs/index.ts'
import { AppError, bestEffort, ERRORS, isAppError, type Log, newId, readIsoTime } from '../kernel/index.ts'
import { type Ledger, readIdCursor, type Tx, writeIdCursor } from '../ledger/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { ByteRange } from '../storage/index.ts'
import { maskUrl, type Sealer } from '../tenancy/index.ts'
import { AccountFiles, type FileListOptions } from './accounts/account-files.ts'
import { type Account, AccountStore, accountNotFound, BUSY } from './accounts/account-store.ts'
import type { FileRecords } from './accounts/file-records.ts'
import { type AccountParams, ItemFilter } from './feed/item-filter.ts'
import { AccountFolder, safeName } from './files/index.ts'
import type { RunCleaner } from './run-cleaner.ts'
import { RUN_KIND, RUN_LANE } from './run-kind.ts'
import { readRunLog } from './run-log.ts'
import type { RunLogPage, RunPage, StoredAccount } from './run-schemas.ts'
import type { RunState } from './run-state.ts'
import type { Cleanup, RunOrder, RunStore } from './run-store.ts'
import {
  type AccountView,
  type RunView,
  readAccount,
  readRun,
  readRuns,
  readState,
  type StateView,
} from './run-view.ts'

export interface RunsDeps {
  engine: Engine
  ledger: Ledger
  net: HttpClient
  sealer: Sealer
  runs: RunStore
  records: FileRecords
  cleaner: RunCleaner
  log: Log
}

/** Accounts, their runs, and the gate before them. */
export class Runs {
  readonly #deps: RunsDeps
  readonly #accounts: AccountStore
  readonly #files: AccountFiles
  readonly #folder: string

  constructor(deps: RunsDeps, { folder }: { folder: string }) {
    this.#deps = deps
    this.#folder = folder
    this.#files = new AccountFiles(deps.ledger)
    this.#accounts = new AccountStore(deps.ledger, deps.sealer)
  }

  async putAccount(tx: Tx, handle: string, url: string, params: AccountParams): Promise<StoredAccount> {
    checkHandle(handle)
    checkParams(params)
    this.#deps.net.check(url)
    await this.#accounts.put(tx, { handle, url, params })
    const stored = { handle, url: maskUrl(url), params }
    await this.#emit(tx, 'account_changed', stored)
    return stored
  }

  async deleteAccount(tx: Tx, handle: string): Promise<void> {
    await this.#accounts.delete(tx, handle)
    await this.#emit(tx, 'account_deleted', { handle })
  }

  /**
   * Accepts a run. One that is accepted is locked from this moment on, and the account with it. Whether it has a place is
   * known after the commit: `state` says so then.
   */
  async start(tx: Tx, handle: string, kind: RunOrder['kind']): Promise<{ runId: string; state(): RunState }> {
    const account = await this.#accounts.lock(tx, handle)
    const { url, params } = account
    if (kind === 'retry' && !(await this.#deps.records.hasFailed(tx, handle)))
      throw new AppError(ERRORS.NOTHING_FAILED, `no file of the account '${handle}' has failed`)
    const order: RunOrder = {
      run_id: newId(),
      handle,
      kind,
      url,
      params,
      cursor: kind === 'start' ? null : account.cursor,
    }
    const enqueued = await this.#enqueue(tx, order, account)
    await this.#deps.runs.insert(tx, { id: order.run_id, jobId: enqueued.jobId, handle })
    return { runId: order.run_id, state: () => stateOf(enqueued) }
  }

  /** Takes a queued run out of the queue, or stops a running one; `files` decides what happens to what it has fetched. */
  async cancel(tx: Tx, runId: string, files: Cleanup): Promise<void> {
    const jobId = await this.#deps.runs.jobOf(tx, runId)
    if (jobId === undefined) throw runNotFound(runId)
    try {
      await this.#deps.engine.cancelJob(tx, jobId)
    } catch (error) {
      if (!isAppError(error, ERRORS.TASK_FINISHED)) throw error
      throw new AppError(ERRORS.RUN_ENDED, `run ${runId} has already ended`)
    }
    const job = await tx.db
      .selectFrom('jobs')
      .select(['state', 'started_at'])
      .where('id', '=', jobId)
      .executeTakeFirstOrThrow()
    if (job.started_at === null) return
    await this.#deps.runs.requestCleanup(tx, runId, files)
    // It had been running before and waited to go on: there is no worker that could clean up after it.
    if (job.state === 'cancelled') tx.afterCommit(() => this.#cleanNow(runId))
  }

  async setMaxConcurrent(tx: Tx, value: number): Promise<void> {
    await this.#deps.engine.setLaneLimit(tx, RUN_LANE, value)
    await this.#emit(tx, 'max_concurrent_changed', { value })
  }

  async run(runId: string): Promise<RunView> {
    const run = await readRun(this.#deps.ledger.db, runId)
    if (!run) throw runNotFound(runId)
    return run
  }

  /** The run as this transaction sees it. */
  async runIn(tx: Tx, runId: string): Promise<RunView> {
    const run = await readRun(tx.db, runId)
    if (!run) throw runNotFound(runId)
    return run
  }

  async account(handle: string): Promise<AccountView> {
    const account = await readAccount(this.#deps.ledger.db, handle)
    if (!account) throw accountNotFound(handle)
    return account
  }

  /** The runs of an account, newest first. */
  async runsOf(handle: string, { limit, cursor }: FileListOptions): Promise<Static<typeof RunPage>> {
    await this.account(handle)
    const runs = await readRuns(this.#deps.ledger.db, handle, {
      limit: limit + 1,
      before: readIdCursor(cursor),
    })
    const items = runs.slice(0, limit)
    const last = runs.length > limit ? items.at(-1) : undefined
    return { items, next_cursor: last ? writeIdCursor(last.run_id) : null }
  }

  async files(handle: string, options: FileListOptions) {
    await this.account(handle)
    return this.#files.done(handle, options)
  }

  async failedFiles(handle: string, options: FileListOptions) {
    await this.account(handle)
    return this.#files.failed(handle, options)
  }

  /** A fetched file. Its name is the one that the ledger has: nothing of what the caller says becomes part of a path. */
  async file(handle: string, itemId: string) {
    await this.account(handle)
    const { name, size: recorded = null } = (await this.#files.find(handle, itemId)) ?? {}
    const folder = new AccountFolder(this.#folder, handle)
    const size = name === undefined ? undefined : await folder.look(name)
    if (name === undefined || typeof size !== 'number') throw fileGone(handle)
    const open = async (range?: ByteRange) => {
      const opened = await folder.read(name, range)
      if (!opened) throw fileGone(handle)
      return opened
    }
    return { name, size: recorded ?? size, open }
  }

  /** What a run said of itself, and the states that it came into; newest first. */
  async log(runId: string, { limit, cursor }: FileListOptions): Promise<Static<typeof RunLogPage>> {
    await this.run(runId)
    await this.#deps.engine.events.number()
    return readRunLog(this.#deps.ledger.db, runId, { limit, cursor })
  }

  /** One consistent view with its `seq`. */
  async state(): Promise<StateView> {
    const { seq, value } = await this.#deps.engine.events.snapshot((db) => readState(db, RUN_LANE))
    return { seq, ...value }
  }

  async #enqueue(tx: Tx, order: RunOrder, account: Account): Promise<Enqueued> {
    const { run_id, handle } = order
    // The index decides. Looking first only spares a wait: an insert that meets a job which its worker is just writing
    // to must wait for that worker, who may be waiting for this account.
    if (await this.#accounts.isLocked(tx, handle)) throw runActive(account)
    try {
      return await this.#deps.engine.enqueue(tx, {
        kind: RUN_KIND,
        payload: order,
        owner: handle,
        tasks: [{ id: run_id, label: handle }],
      })
    } catch (error) {
      if (!isAppError(error, ERRORS.JOB_REFUSED)) throw error
      throw runActive(account)
    }
  }

  #cleanNow(runId: string): void {
    const cleaned = this.#deps.runs.unclean({ id: runId }).then(async (left) => {
      for (const run of left) await this.#deps.cleaner.clean(run)
    })
    bestEffort(cleaned, (err) => this.#deps.log.warn({ err, runId }, 'a cancelled run was not cleaned up'))
  }

  async #emit(tx: Tx, type: string, data: Record<string, unknown>): Promise<void> {
    const event = { type, kind: RUN_KIND, projectId: null, taskId: null, jobId: null, data }
    await this.#deps.engine.emit(tx, event)
  }
}

/** One with a free place runs at once, a moment before its worker takes it. */
function stateOf({ admitted }: Enqueued): RunState {
  return admitted ? 'Running' : 'Queued'
}

function runActive({ handle, runId }: Account): AppError {
  return new AppError(
    ERRORS.RUN_ACTIVE,
    `the account '${handle}' already has a run that is queued or running`,
    { details: { handle, run_id: runId }, words: BUSY },
  )
}

function fileGone(handle: string): AppError {
  return new AppError(
    ERRORS.ARTIFACT_NOT_FOUND,
    `the account '${handle}' has no such file, or it is no longer in its folder here`,
  )
}

function runNotFound(runId: string): AppError {
  return new AppError(ERRORS.RUN_NOT_FOUND, `there is no run ${runId}, or it was deleted after its time`)
}

/** Throws for wishes that no item could ever meet, or that nobody can read. */
function checkParams(params: AccountParams): void {
  const { min_size, max_size, since, until, types } = params
  for (const [name, value] of Object.entries({ since, until }))
    if (value !== undefined && readIsoTime(value) === undefined)
      throw invalid(name, `${name} takes a date like 2026-01-31 or 2026-01-31T12:00:00Z`)
  if (min_size !== undefined && max_size !== undefined && min_size > max_size)
    throw invalid('min_size', 'min_size is larger than max_size')
  if (!ItemFilter.hasTime(params)) throw invalid('since', 'since is after until')
  if (types?.length === 0)
    throw invalid('types', 'types is empty, which no file matches; leave it out to take all')
  for (const [index, type] of (types ?? []).entries())
    if (!TYPE.test(type))
      throw invalid(`types/${index}`, `${JSON.stringify(type)} is no type like video, image/png or image/*`)
}

/** What a feed may call a type, or a family with `/*`. */
const TYPE = /^[^*/]([^*]*[^*/])?(\/\*)?$/

function invalid(name: string, message: string): AppError {
  const path = `params/${name}`
  return new AppError(ERRORS.REQUEST_INVALID, `${path}: ${message}`, {
    details: { errors: [{ path, message }] },
  })
}

const MAX_CHARACTERS = 100

/**
 * A handle is also the name of the account's folder, so it must be one that means the same on every file system.
 * Nothing is replaced silently: two handles must never end up in one folder.
 */
function checkHandle(handle: string): void {
  const good = handle.length <= MAX_CHARACTERS && !/\s/.test(handle) && safeName(handle) === handle
  if (good) return
  throw new AppError(
    ERRORS.HANDLE_INVALID,
    `a handle takes 1 to ${MAX_CHARACTERS} characters that are valid in a folder's name: no blanks, no / \\ : * ? " < > |, no dot at either end`,
  )
}
