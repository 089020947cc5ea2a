import { link, realpath, rm } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { ScheduledDuty } from '../domain/index.ts'
import type { Attention, Depth, Engine, JobKind } from '../jobs/index.ts'
import { AppError, type Clock, copyFile, ERRORS, type Log, newId, removeTree } from '../kernel/index.ts'
import { badCursor, readCursor, writeCursor } from '../ledger/index.ts'
import type { Quotas } from '../tenancy/index.ts'
import { MendHandOffsDuty, SweepFilesDuty, TaskExpiryDuty } from './duties/index.ts'
import { HandOff, isFolderName, ResultFiles, readTaskLog, type TaskLog } from './files/index.ts'
import { GrpcServer } from './grpc/grpc-server.ts'
import { keyedId } from './keyed-id.ts'
import { type OpenedStore, openStore } from './open-store.ts'
import type { ProcessingOptions } from './processing-options.ts'
import { openProcessor } from './processor/open-processor.ts'
import type { Processor } from './processor/processor.ts'
import { type TaskListOptions, type TaskRows, toDetails, tryOf } from './stores/index.ts'
import { hasEnded, type TaskDetails } from './task.ts'
import { noTask, TaskService } from './task-service.ts'
import { UploadFinisher } from './upload-finisher.ts'
import { UploadRoom } from './upload-room.ts'
import type { UploadServer, UploadServerOptions } from './uploads.ts'

const EXPIRY_EVERY_MS = 60_000
const SWEEP_EVERY_MS = 5 * 60_000
const MEND_EVERY_MS = 60_000
const FINISH_EVERY_MS = 5_000

export interface ProcessingDeps {
  engine: Engine
  quotas: Quotas
  clock: Clock
  log: Log
}

export interface TaskPage {
  tasks: TaskDetails[]
  nextCursor: string | null
}

/** The service, its gRPC side, its duties, and a processor beside Redis where one is configured. */
export class Processing {
  readonly kinds: readonly JobKind[]
  readonly duties: readonly ScheduledDuty[]
  /** Left out where tasks are jobs: then the engine knows. */
  readonly depth?: () => Promise<Depth>
  readonly service: TaskService
  readonly results: ResultFiles
  readonly #uploads: Pick<UploadServerOptions, 'folder' | 'maxBytes' | 'ttlMs' | 'elsewhere'>
  readonly #opened: OpenedStore
  readonly #handOff: HandOff
  readonly #rows: TaskRows
  readonly #room: UploadRoom
  readonly #finisher: UploadFinisher
  readonly #grpc: GrpcServer
  readonly #mend: MendHandOffsDuty
  readonly #sole: boolean
  readonly #processor: Processor | undefined

  static async open(deps: ProcessingDeps, options: ProcessingOptions): Promise<Processing> {
    return new Processing(deps, await openStore(deps, options), options)
  }

  private constructor(deps: ProcessingDeps, opened: OpenedStore, options: ProcessingOptions) {
    const { engine, quotas, clock, log } = deps
    const { store, rows } = opened
    this.#room = new UploadRoom({ ledger: engine.ledger, quotas })
    const handOff = new HandOff(log, options)
    this.#opened = opened
    this.#handOff = handOff
    this.#rows = rows
    this.service = new TaskService({ ledger: engine.ledger, store, handOff, clock, log })
    this.#finisher = new UploadFinisher({ service: this.service, room: this.#room, log }, handOff.temp)
    this.results = new ResultFiles(handOff.storage, options.elsewhere)
    this.#uploads = {
      folder: handOff.temp,
      maxBytes: options.uploadMaxBytes,
      ttlMs: options.tempTtlMs,
      elsewhere: options.elsewhere,
    }
    this.#grpc = new GrpcServer(
      { service: this.service, healthy: () => store.ping(), clock, log },
      options.grpc,
    )
    const sweep = new SweepFilesDuty(
      { store, handOff, log, room: this.#room },
      { tempTtlMs: options.tempTtlMs },
    )
    this.#mend = new MendHandOffsDuty({ store, handOff, log })
    const expiry = new TaskExpiryDuty({ rows, store, handOff, log })
    this.kinds = opened.kinds
    this.duties = [
      ...opened.duties,
      { duty: expiry, everyMs: EXPIRY_EVERY_MS, runs: 'leader' },
      { duty: this.#mend, everyMs: MEND_EVERY_MS, runs: 'local' },
      { duty: this.#finisher, everyMs: FINISH_EVERY_MS, runs: 'local' },
      { duty: sweep, everyMs: SWEEP_EVERY_MS, runs: 'local' },
    ]
    this.#sole = options.sole
    const { processor } = options
    if (opened.queue && processor) {
      const queue = opened.queue(processor.concurrency)
      this.#processor = openProcessor({ queue, clock, log }, processor, options.aliveMs)
    }
    if (opened.queue) this.depth = () => rows.depth()
  }

  /** Where gRPC listens, once started. */
  get grpcAddress(): string {
    return this.#grpc.address
  }

  /** As the ledger knows them; with Redis that is a moment older than what processors write there. */
  async list(options: Omit<TaskListOptions, 'before'> & { cursor?: string }): Promise<TaskPage> {
    const { cursor, limit, ...filters } = options
    const before = cursor === undefined ? undefined : readCursor(cursor)
    // From a version that listed tasks by their ids alone.
    if (before?.at === 0) throw badCursor()
    const rows = await this.#rows.newest({ ...filters, limit: limit + 1, ...(before && { before }) })
    const page = rows.slice(0, limit)
    const last = rows.length > limit ? page.at(-1) : undefined
    const away = this.#opened.store.away()
    return {
      tasks: page
        .map(toDetails)
        .map((task) => (away && !hasEnded(task.status) ? { ...task, waitingFor: away } : task)),
      nextCursor: last ? writeCursor({ at: Number(last.created_at), id: last.id }) : null,
    }
  }

  /** What the command of a task printed, where it was one of Wharf's own processors. */
  log(taskId: string): Promise<TaskLog> {
    return readTaskLog(this.#handOff.storage, taskId)
  }

  /**
   * A new task of the file of one that failed; the old one stays as it is. With `key`, asking twice makes one task. Answers
   * its id, and whether it was made before.
   */
  async retry(task: TaskDetails, key?: string): Promise<{ id: string; before: boolean }> {
    const { taskId, projectId, status, fileName, size, originalFilePath } = task
    if (status !== 'FAILED') throw new AppError(ERRORS.NOTHING_FAILED, `task ${taskId} is ${status}`)
    const id = key === undefined ? newId() : keyedId(projectId, `retry ${taskId} ${key}`)
    if (key !== undefined && (await this.service.find(id))) return { id, before: true }
    if (projectId !== null) await this.#room.reserve(id, projectId, size)
    const path = join(this.#handOff.temp, id)
    try {
      await copyOriginal(await this.#original(taskId, originalFilePath), path)
      await this.service.create({
        ...{ tempFilePath: path, originalFilename: fileName, id },
        ...(projectId !== null && { projectId }),
      })
      return { id, before: false }
    } finally {
      await rm(path, { force: true })
      await this.#room.release(id)
    }
  }

  /** Takes a task that has ended away before its time, with its files. */
  async delete({ taskId, status }: TaskDetails): Promise<void> {
    if (!hasEnded(status))
      throw new AppError(ERRORS.TASK_NOT_FINISHED, `task ${taskId} is ${status}: cancel it first`)
    const row = isFolderName(taskId) ? await this.#rows.get(taskId) : undefined
    if (!row) throw noTask()
    // The folder first, so that a crash between the two leaves a record that expires by itself.
    await removeTree(this.#handOff.folderOf(taskId))
    await this.#opened.store.remove(tryOf(row))
  }

  /** Other programs may write any path into a record: only a file in the folder of its task is taken. */
  async #original(taskId: string, path: string): Promise<string> {
    const real = await realpath(path).catch(() => '')
    if (isFolderName(taskId) && real.startsWith(this.#handOff.folderOf(taskId) + sep)) return real
    const message = `the file of task ${taskId} is gone${this.#uploads.elsewhere}`
    throw new AppError(ERRORS.ARTIFACT_NOT_FOUND, message)
  }

  /** What failed last and what waits longest. */
  async attention(): Promise<Attention> {
    const { failures, waiting } = await this.#rows.attention()
    const away = this.#opened.store.away()
    return { failures, waiting: away ? waiting.map((row) => ({ ...row, waiting_for: away })) : waiting }
  }

  /** The library of the protocol is loaded here: a server that nobody uploads to does without it. */
  async openUploads(
    options: Omit<UploadServerOptions, 'folder' | 'maxBytes' | 'ttlMs' | 'elsewhere'>,
  ): Promise<UploadServer> {
    const { UploadServer } = await import('./uploads.ts')
    const deps = { service: this.service, room: this.#room, finisher: this.#finisher }
    return new UploadServer(deps, { ...options, ...this.#uploads })
  }

  async start(): Promise<void> {
    await this.#opened.start()
    if (this.#sole) await this.#mend.runAlone()
  }

  async serve(): Promise<void> {
    await this.#grpc.start()
    await this.#processor?.start()
  }

  async drain(until: AbortSignal): Promise<void> {
    await Promise.all([this.#grpc.drain(), this.#processor?.drain(until)])
  }

  disconnect(until: AbortSignal): Promise<void> {
    return this.#grpc.disconnect(until)
  }

  async stop(): Promise<void> {
    await this.#processor?.stop()
    this.#opened.close()
  }
}

/** Another name for the same bytes, which nobody changes; a copy where the disk has no such thing. */
async function copyOriginal(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to))
}
