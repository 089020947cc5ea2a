import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, Report } from './reader-process.ts'

const PROCESS = fileURLToPath(new URL('./reader-process.ts', import.meta.url))

/** Watchers in a process of their own, so that neither the server nor the measurement shares a thread with them. */
export class Readers {
  readonly #child: ChildProcess

  constructor(address: string, key: string) {
    this.#child = fork(PROCESS, [address, key])
  }

  /** Resolves when all of them are connected. */
  async open(sse: number, sockets: number, after: number): Promise<void> {
    await this.#ask({ open: { sse, sockets, after } })
  }

  report(): Promise<Report> {
    return this.#ask<Report>({ report: true })
  }

  async close(): Promise<void> {
    await this.#ask({ close: true })
  }

  stop(): void {
    this.#child.kill()
  }

  async #ask<T>(order: Order | { report: true }): Promise<T> {
    const answered = once(this.#child, 'message')
    this.#child.send(order)
    const [answer] = (await answered) as [T | { error: string }]
    if (typeof answer === 'object' && answer !== null && 'error' in answer) throw new Error(answer.error)
    return answer as T
  }
}
