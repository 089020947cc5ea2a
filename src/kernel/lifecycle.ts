import { messageOf } from './errors.ts'
import type { Log } from './log.ts'

export interface Part {
  readonly name: string
  start?(): Promise<void> | void
  stop?(): Promise<void> | void
}

/** Starts parts in order and stops them in reverse; a start that fails stops what was already up. */
export class Lifecycle {
  readonly #log: Log
  readonly #started: Part[] = []
  #stopping: Promise<void> | undefined

  constructor(log: Log) {
    this.#log = log
  }

  async start(parts: readonly Part[]): Promise<void> {
    for (const part of parts) {
      try {
        await part.start?.()
        this.#started.push(part)
      } catch (error) {
        await this.stop()
        throw error
      }
    }
  }

  /** Asked again while it is under way, it is the same stop: two would overtake each other. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll().finally(() => {
      this.#stopping = undefined
    })
    return this.#stopping
  }

  async #stopAll(): Promise<void> {
    for (let part = this.#started.pop(); part; part = this.#started.pop()) {
      try {
        await part.stop?.()
      } catch (error) {
        this.#log.error({ part: part.name, err: error }, `could not stop ${part.name}: ${messageOf(error)}`)
      }
    }
  }
}
