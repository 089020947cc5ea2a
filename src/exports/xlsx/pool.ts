import { getCompileCacheDir } from 'node:module'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { EncodedPiece, PieceTask } from './encode/encode-piece.ts'
import type { WorkerAnswer, WorkerRequest } from './slice-worker.ts'

interface Job {
  task: PieceTask
  signal: AbortSignal
  resolve(piece: EncodedPiece): void
  reject(error: unknown): void
}

/** A thread has at most this many tasks: one at work, one waiting, so that it never waits for the main thread. */
const TASKS_A_THREAD = 2
/** Compiled sources (`.js`) stand beside each other like the originals do. */
const SCRIPT = new URL(
  `./slice-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`,
  import.meta.url,
)

/**
 * Threads that turn spool slices into compressed sheet XML. They are started on first use and kept, warm, for all
 * exports of the process; exports take turns task by task.
 */
export class XlsxPool {
  readonly size: number
  readonly #threads: Thread[] = []
  readonly #waiting: Job[] = []
  #closed = false

  constructor({ threads = Math.min(4, availableParallelism()) }: { threads?: number } = {}) {
    this.size = threads
  }

  /** Starts the threads ahead of the first task. */
  warmUp(): void {
    while (!this.#closed && this.#threads.length < this.size) this.#threads.push(this.#startThread())
  }

  encode(task: PieceTask, signal: AbortSignal): Promise<EncodedPiece> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, signal, resolve, reject })
      this.#pump()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#pump()
    await Promise.all(this.#threads.splice(0).map((thread) => thread.stop()))
  }

  #pump(): void {
    this.warmUp()
    while (this.#waiting.length > 0) {
      const job = this.#waiting[0]!
      if (this.#closed) job.reject(new AppError(ERRORS.SHUTTING_DOWN, 'the xlsx threads have been stopped'))
      else if (job.signal.aborted) job.reject(job.signal.reason)
      else if (!this.#give(job)) return
      this.#waiting.shift()
    }
  }

  #give(job: Job): boolean {
    const thread = this.#threads.reduce((least, other) => (other.load < least.load ? other : least))
    if (thread.load >= TASKS_A_THREAD) return false
    thread.give(job)
    return true
  }

  #startThread(): Thread {
    const thread = new Thread({
      free: () => this.#pump(),
      gone: () => {
        const index = this.#threads.indexOf(thread)
        if (index >= 0) this.#threads.splice(index, 1)
      },
    })
    return thread
  }
}

class Thread {
  readonly #worker: Worker
  readonly #jobs = new Map<number, Job>()
  #lastId = 0

  constructor(events: { free(): void; gone(): void }) {
    // A process that keeps compiled code on disk lets its threads use it: that halves what a thread's start costs.
    const cache = getCompileCacheDir()
    this.#worker = new Worker(SCRIPT, {
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      // Kept small: a thread makes next to no garbage, and four of them would hold on to it.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    })
    this.#worker.unref()
    this.#worker.on('message', (answer: WorkerAnswer) => {
      this.#settle(answer)
      events.free()
    })
    this.#worker.on('error', (error) => {
      events.gone()
      for (const job of this.#jobs.values()) job.reject(error)
      this.#jobs.clear()
      events.free()
    })
  }

  get load(): number {
    return this.#jobs.size
  }

  give(job: Job): void {
    this.#lastId += 1
    // An idle pool must not keep the process alive, one at work must.
    if (this.#jobs.size === 0) this.#worker.ref()
    this.#jobs.set(this.#lastId, job)
    const request: WorkerRequest = { id: this.#lastId, task: job.task }
    this.#worker.postMessage(request)
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
    for (const job of this.#jobs.values())
      job.reject(new AppError(ERRORS.SHUTTING_DOWN, 'the xlsx threads have been stopped'))
    this.#jobs.clear()
  }

  #settle(answer: WorkerAnswer): void {
    const job = this.#jobs.get(answer.id)
    this.#jobs.delete(answer.id)
    if (this.#jobs.size === 0) this.#worker.unref()
    if ('piece' in answer) {
      job?.resolve(answer.piece)
      return
    }
    const { broken, message } = answer.failure
    job?.reject(new AppError(broken ? ERRORS.SPOOL_DAMAGED : ERRORS.INTERNAL, message))
  }
}
