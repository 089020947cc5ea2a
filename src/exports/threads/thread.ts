import { getCompileCacheDir } from 'node:module'
import { getHeapStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { AppError, bestEffort, ERRORS } from '../../kernel/index.ts'
import { errorOf } from './failure.ts'
import { neighbour, type TaskFunction } from './task-function.ts'
import type { WorkerAnswer, WorkerRequest } from './worker.ts'

export interface Job {
  taskFunction: Pick<TaskFunction<unknown, unknown>, 'module' | 'name'>
  task?: unknown
  transfer: ArrayBuffer[]
  /** When it aborts while the thread is at this job, the thread is ended. */
  signal?: AbortSignal
  resolve(result: unknown): void
  reject(error: unknown): void
  /** The thread ended before it came to this job, and another can do it. */
  again?(): void
}

/** How long a cancelled job may still take: most end sooner than a new thread starts. */
const GRACE_MS = 500

/**
 * Far more than a thread needs. V8 lets a heap whose limit is 2 GB or more grow to four times what is in use before it collects
 * garbage, and one with this limit to 1.6 times.
 */
const OLD_GENERATION_MB = Math.min(1_024, getHeapStatistics().heap_size_limit / 2 ** 20)

/** One thread of a pool, and the jobs it has been given. It does them in that order, so the first one is under way. */
export class Thread {
  readonly #worker: Worker
  readonly #jobs = new Map<number, Job & { unwatch(): void }>()
  readonly #onGone: () => void
  #lastId = 0
  #gone: Error | undefined
  #grace: NodeJS.Timeout | undefined

  constructor(onGone: () => void) {
    this.#onGone = onGone
    // A process that keeps compiled code on disk lets its threads use it: that halves what a thread's start costs.
    const cache = getCompileCacheDir()
    this.#worker = new Worker(neighbour(import.meta.url, 'worker'), {
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      resourceLimits: {
        // Kept small: a thread makes next to no garbage, and four of them would hold on to it.
        maxYoungGenerationSizeMb: 8,
        maxOldGenerationSizeMb: OLD_GENERATION_MB,
      },
    })
    this.#worker.unref()
    this.#worker.on('message', (answer: WorkerAnswer) => this.#settle(answer))
    this.#worker.on('error', (error) => this.#end(error))
    // Without an error: its jobs would never be settled, and a command that waits for one would end without a word.
    this.#worker.on('exit', (code) =>
      this.#end(new Error(`a thread ended with code ${code} before its work`)),
    )
  }

  give(job: Job): void {
    if (this.#gone) {
      job.reject(this.#gone)
      return
    }
    this.#lastId += 1
    // An idle pool must not keep the process alive, one at work must.
    if (this.#jobs.size === 0) this.#worker.ref()
    const watch = () => this.#watch()
    job.signal?.addEventListener('abort', watch)
    this.#jobs.set(this.#lastId, { ...job, unwatch: () => job.signal?.removeEventListener('abort', watch) })
    const request: WorkerRequest = { id: this.#lastId, ...job.taskFunction, task: job.task }
    this.#worker.postMessage(request, job.transfer)
  }

  async stop(): Promise<void> {
    this.#gone = stopped()
    await this.#worker.terminate()
    for (const job of this.#takeAll()) job.reject(this.#gone)
  }

  /** Lets the job under way end soon if it was given up. */
  #watch(): void {
    const [underWay] = this.#jobs.values()
    if (this.#grace || !underWay?.signal?.aborted) return
    this.#grace = setTimeout(() => {
      bestEffort(this.#worker.terminate()) // it may be gone already
      this.#end(underWay.signal?.reason)
    }, GRACE_MS).unref()
  }

  /** The job under way is what ended the thread; those after it go elsewhere, unless their memory went with it. */
  #end(error: Error): void {
    if (this.#gone) return
    this.#gone = error
    this.#onGone()
    const [underWay, ...others] = this.#takeAll()
    underWay?.reject(error)
    for (const job of others) {
      if (job.again) job.again()
      else job.reject(error)
    }
  }

  #takeAll(): Job[] {
    const jobs = [...this.#jobs.values()]
    this.#jobs.clear()
    clearTimeout(this.#grace)
    for (const job of jobs) job.unwatch()
    return jobs
  }

  #settle(answer: WorkerAnswer): void {
    const job = this.#jobs.get(answer.id)
    this.#jobs.delete(answer.id)
    job?.unwatch()
    clearTimeout(this.#grace)
    this.#grace = undefined
    // One that is being stopped is waited for, and its last answer may come only now.
    if (this.#jobs.size === 0 && !this.#gone) this.#worker.unref()
    if ('failure' in answer) job?.reject(errorOf(answer.failure))
    else job?.resolve(answer.result)
    this.#watch()
  }
}

export function stopped(): AppError {
  return new AppError(ERRORS.SHUTTING_DOWN, 'the threads have been stopped')
}
