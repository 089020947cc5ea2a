import { availableParallelism } from 'node:os'
import type { TaskFunction } from './task-function.ts'
import { stopped, Thread } from './thread.ts'

export interface RunOptions {
  signal: AbortSignal
  /** Memory of the task that goes to the thread instead of being copied. */
  transfer?: ArrayBuffer[]
}

/** A thread that always is the same, for work that keeps its state there. */
export interface PinnedThread {
  run<Task, Result>(
    taskFunction: TaskFunction<Task, Result>,
    task: Task,
    transfer?: ArrayBuffer[],
  ): Promise<Result>
  /** Until then the thread counts as busier than others when one is chosen to be pinned. */
  release(): void
}

interface Member {
  thread: Thread
  /** Its tasks, or what is pinned to it. */
  load: number
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
 *
 * A thread whose task was given up (a cancelled export, one that took too long) is ended; what waited for it goes to another.
 * Work that keeps its state in a thread would be lost with it, so that has threads of its own, which are not ended.
 */
export class ThreadPool {
  readonly size: number
  readonly #members: Member[] = []
  readonly #pinned: Member[] = []
  readonly #waiting: Waiting[] = []
  #closed = false

  constructor({ threads = Math.min(4, availableParallelism()) }: { threads?: number } = {}) {
    this.size = threads
  }

  /** Starts the threads ahead of the first task, and lets them load what it needs. */
  warmUp(taskFunction: Pick<TaskFunction<unknown, unknown>, 'module' | 'name'>): void {
    this.#start(this.#members)
    const ignore = () => undefined
    for (const { thread } of this.#members)
      thread.give({ taskFunction, transfer: [], resolve: ignore, reject: ignore })
  }

  run<Task, Result>(
    taskFunction: TaskFunction<Task, Result>,
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
          taskFunction,
          task,
          transfer,
          signal,
          resolve: (result) => end(() => resolve(result as Result)),
          reject: (error) => end(() => reject(error)),
          ...(transfer.length === 0 && { again: () => end(() => this.#waiting.unshift(waiting)) }),
        })
      }
      const waiting = { signal, start, reject }
      this.#waiting.push(waiting)
      this.#pump()
    })
  }

  pin(): PinnedThread {
    if (this.#closed) throw stopped()
    this.#start(this.#pinned)
    const member = least(this.#pinned)
    member.load++
    return {
      run: <Task, Result>(
        taskFunction: TaskFunction<Task, Result>,
        task: Task,
        transfer: ArrayBuffer[] = [],
      ) =>
        new Promise<Result>((resolve, reject) => {
          member.thread.give({
            taskFunction,
            task,
            transfer,
            resolve: (result) => resolve(result as Result),
            reject,
          })
        }),
      release: () => {
        member.load--
      },
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#pump()
    const members = [...this.#members.splice(0), ...this.#pinned.splice(0)]
    await Promise.all(members.map(({ thread }) => thread.stop()))
  }

  #start(members: Member[]): void {
    while (!this.#closed && members.length < this.size) {
      const member = { thread: new Thread(() => members.splice(members.indexOf(member), 1)), load: 0 }
      members.push(member)
    }
  }

  #pump(): void {
    while (this.#waiting.length > 0) {
      this.#start(this.#members)
      const next = this.#waiting[0]!
      const refused = this.#closed ? stopped() : next.signal.aborted ? next.signal.reason : undefined
      const member = refused === undefined ? least(this.#members) : undefined
      if (member && member.load >= TASKS_A_THREAD) return
      this.#waiting.shift()
      if (member) next.start(member)
      else next.reject(refused)
    }
  }
}

function least(members: readonly Member[]): Member {
  return members.reduce((best, member) => (member.load < best.load ? member : best))
}
