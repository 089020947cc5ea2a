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
  /** Its tasks, while nothing is pinned to it. */
  tasks: number
  /** How much is pinned to it. While there is something, it takes no tasks. */
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
 *
 * A thread whose task was given up (a cancelled export, one that took too long) is ended; what waited for it goes to another.
 * Work that keeps its state in a thread would be lost with it, so a thread takes either tasks or what is pinned to it. An export
 * first pins and then has tasks: one that is alone needs `size` threads, and however many there are, twice as many will do.
 */
export class ThreadPool {
  readonly size: number
  readonly #members: Member[] = []
  readonly #waiting: Waiting[] = []
  #closed = false

  constructor({ threads = Math.min(4, availableParallelism()) }: { threads?: number } = {}) {
    this.size = threads
  }

  /** Starts the threads, or so many, ahead of the first task, and lets them load what it needs. */
  warmUp(
    taskFunction: Pick<TaskFunction<unknown, unknown>, 'module' | 'name'>,
    { threads = this.size } = {},
  ): void {
    const ignore = () => undefined
    while (!this.#closed && this.#forTasks().length < threads) this.#start()
    for (const { thread } of this.#forTasks().slice(0, threads))
      thread.give({ taskFunction, transfer: [], resolve: ignore, reject: ignore })
  }

  run<Task, Result>(
    taskFunction: TaskFunction<Task, Result>,
    task: Task,
    { signal, transfer = [] }: RunOptions,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const start = (member: Member) => {
        member.tasks++
        const end = (settle: () => void) => {
          member.tasks--
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
    const pinned = this.#members.filter(({ pins }) => pins > 0)
    const free = this.#members.find(({ pins, tasks }) => pins === 0 && tasks === 0)
    const member = pinned.length < this.size ? (free ?? this.#start()) : least(pinned, 'pins')
    member.pins++
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
        member.pins--
        this.#pump()
      },
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#pump()
    await Promise.all(this.#members.splice(0).map(({ thread }) => thread.stop()))
  }

  #start(): Member {
    const gone = () => this.#members.splice(this.#members.indexOf(member), 1)
    const member: Member = { thread: new Thread(gone), tasks: 0, pins: 0 }
    this.#members.push(member)
    return member
  }

  #forTasks(): Member[] {
    return this.#members.filter(({ pins }) => pins === 0).slice(0, this.size)
  }

  #pump(): void {
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0]!
      const refused = this.#closed ? stopped() : next.signal.aborted ? next.signal.reason : undefined
      const member = refused === undefined ? this.#idlest() : undefined
      if (member && member.tasks >= TASKS_A_THREAD) return
      this.#waiting.shift()
      if (member) next.start(member)
      else next.reject(refused)
    }
  }

  #idlest(): Member {
    const members = this.#forTasks()
    const member = members.length > 0 ? least(members, 'tasks') : undefined
    return member && (member.tasks === 0 || members.length === this.size) ? member : this.#start()
  }
}

function least(members: readonly Member[], by: 'tasks' | 'pins'): Member {
  return members.reduce((best, member) => (member[by] < best[by] ? member : best))
}
