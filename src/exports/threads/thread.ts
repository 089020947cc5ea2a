import { getCompileCacheDir } from 'node:module'
import { Worker } from 'node:worker_threads'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { type Craft, neighbour } from './craft.ts'
import { errorOf } from './failure.ts'
import type { WorkerAnswer, WorkerRequest } from './worker.ts'

export interface Job {
  craft: Pick<Craft<unknown, unknown>, 'module' | 'name'>
  task?: unknown
  transfer: ArrayBuffer[]
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** One thread of a pool, and the jobs it has been given. */
export class Thread {
  readonly #worker: Worker
  readonly #jobs = new Map<number, Job>()
  #lastId = 0
  #gone: Error | undefined

  constructor(onGone: () => void) {
    // A process that keeps compiled code on disk lets its threads use it: that halves what a thread's start costs.
    const cache = getCompileCacheDir()
    this.#worker = new Worker(neighbour(import.meta.url, 'worker'), {
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      // Kept small: a thread makes next to no garbage, and four of them would hold on to it.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    })
    this.#worker.unref()
    this.#worker.on('message', (answer: WorkerAnswer) => this.#settle(answer))
    this.#worker.on('error', (error) => {
      onGone()
      this.#fail(error)
    })
  }

  give(job: Job): void {
    if (this.#gone) {
      job.reject(this.#gone)
      return
    }
    this.#lastId += 1
    // An idle pool must not keep the process alive, one at work must.
    if (this.#jobs.size === 0) this.#worker.ref()
    this.#jobs.set(this.#lastId, job)
    const request: WorkerRequest = { id: this.#lastId, ...job.craft, task: job.task }
    this.#worker.postMessage(request, job.transfer)
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
    this.#fail(stopped())
  }

  #fail(error: Error): void {
    this.#gone = error
    for (const job of this.#jobs.values()) job.reject(error)
    this.#jobs.clear()
  }

  #settle(answer: WorkerAnswer): void {
    const job = this.#jobs.get(answer.id)
    this.#jobs.delete(answer.id)
    if (this.#jobs.size === 0) this.#worker.unref()
    if ('failure' in answer) job?.reject(errorOf(answer.failure))
    else job?.resolve(answer.result)
  }
}

export function stopped(): AppError {
  return new AppError(ERRORS.SHUTTING_DOWN, 'the threads have been stopped')
}
