import { availableParallelism } from 'node:os'
import type { Craft } from './craft.ts'
import { stopped, Thread } from './thread.ts'

export interface RunOptions {
  signal: AbortSignal
  /** Memory of the task that goes to the thread instead of being copied. */
  transfer?: ArrayBuffer[]
}

/** A thread that always is the same, for work that keeps its state there. */
export interface PinnedThread {
  run<Task, Result>(craft: Craft<Task, Result>, task: Task, transfer?: ArrayBuffer[]): Promise<Result>
  /** Until then the thread counts as busier than others when one is chosen to be pinned. */
  release(): void
}

interface Member {
  thread: Thread
  /** Tasks that any thread could have had. */
  load: number
  pins: number
}

interface Waiting {
  signal: AbortSignal
  start(member: Member): void
  reject(error: unknown): void
}

/** A thread has at most this many tasks: one at work, one waiting, so that it never waits for the main thread. */
const TASKS_A_THREAD = 2

/**
 * Threads for the work on rows, which would otherwise hold up everything else in the process. They are started on first
 * use and kept, warm, for all exports; exports take turns task by task.
 */
export class ThreadPool {
  readonly size: number
  readonly #members: Member[] = []
  readonly #waiting: Waiting[] = []
  #closed = false

  constructor({ threads = Math.min(4, availableParallelism()) }: { threads?: number } = {}) {
    this.size = threads
  }

  /** Starts the threads ahead of the first task, and lets them load what it needs. */
  warmUp(craft: Pick<Craft<unknown, unknown>, 'module' | 'name'>): void {
    this.#start()
    const ignore = () => undefined
    for (const { thread } of this.#members)
      thread.give({ craft, transfer: [], resolve: ignore, reject: ignore })
  }

  run<Task, Result>(
    craft: Craft<Task, Result>,
    task: Task,
    { signal, transfer = [] }: RunOptions,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const start = (member: Member) => {
        member.load++
        const end = (settle: () => void) => {
          member.load--
          settle()
          this.#pump()
        }
        member.thread.give({
          craft,
          task,
          transfer,
          resolve: (result) => end(() => resolve(result as Result)),
          reject: (error) => end(() => reject(error)),
        })
      }
      this.#waiting.push({ signal, start, reject })
      this.#pump()
    })
  }

  pin(): PinnedThread {
    if (this.#closed) throw stopped()
    this.#start()
    const member = least(this.#members, ({ pins }) => pins)
    member.pins++
    return {
      run: <Task, Result>(craft: Craft<Task, Result>, task: Task, transfer: ArrayBuffer[] = []) =>
        new Promise<Result>((resolve, reject) => {
          member.thread.give({
            craft,
            task,
            transfer,
            resolve: (result) => resolve(result as Result),
            reject,
          })
        }),
      release: () => {
        member.pins--
      },
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#pump()
    await Promise.all(this.#members.splice(0).map(({ thread }) => thread.stop()))
  }

  #start(): void {
    while (!this.#closed && this.#members.length < this.size) {
      const member = { thread: new Thread(() => this.#forget(member)), load: 0, pins: 0 }
      this.#members.push(member)
    }
  }

  #forget(member: Member): void {
    const index = this.#members.indexOf(member)
    if (index >= 0) this.#members.splice(index, 1)
  }

  #pump(): void {
    if (this.#waiting.length > 0) this.#start()
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0]!
      const refused = this.#closed ? stopped() : next.signal.aborted ? next.signal.reason : undefined
      const member = refused === undefined ? least(this.#members, ({ load }) => load) : undefined
      if (member && member.load >= TASKS_A_THREAD) return
      this.#waiting.shift()
      if (member) next.start(member)
      else next.reject(refused)
    }
  }
}

function least<T>(items: readonly T[], of: (item: T) => number): T {
  return items.reduce((best, item) => (of(item) < of(best) ? item : best))
}
