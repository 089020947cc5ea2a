import { endsWithin, within } from './abort.ts'
import { systemClock } from './clock.ts'
import { messageOf } from './errors.ts'
import type { Log } from './log.ts'

export interface Part {
  readonly name: string
  start?(): Promise<void> | void
  /** Takes no new work and lets what is under way finish; what is left when `until` aborts is put back. */
  drain?(until: AbortSignal): Promise<void>
  /** Lets nobody in and disconnects those that stay connected; answers under way may end until `until` aborts. */
  disconnect?(until: AbortSignal): Promise<void>
  stop?(): Promise<void> | void
}

export interface LifecycleOptions {
  /** How long a stop lets work and answers finish. */
  drainMs?: number
  /** How long the rest of a stop may take after that. */
  marginMs?: number
}

const MARGIN_MS = 2_000

/**
 * Starts parts in order; a start that fails stops what was already up.
 *
 * A stop has three phases. All parts drain at the same time, while everything that they need still works. Then all
 * disconnect at the same time. Then each stops, last started first. The first two end as soon as nothing is left, and the
 * whole ends `drainMs + marginMs` after it began, whatever a part does.
 */
export class Lifecycle {
  readonly #log: Log
  readonly #options: Required<LifecycleOptions>
  readonly #started: Part[] = []
  #stopping: Promise<void> | undefined

  constructor(log: Log, { drainMs = 0, marginMs = MARGIN_MS }: LifecycleOptions = {}) {
    this.#log = log
    this.#options = { drainMs, marginMs }
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
    this.#stopping ??= this.#stopInTime().finally(() => {
      this.#stopping = undefined
    })
    return this.#stopping
  }

  async #stopInTime(): Promise<void> {
    const { drainMs, marginMs } = this.#options
    const stopped = within(systemClock, drainMs, (until) => this.#stopInOrder(until))
    if (await endsWithin(systemClock, drainMs + marginMs, stopped)) return
    const parts = this.#started.map(({ name }) => name)
    this.#log.error({ parts }, 'not everything has stopped in time; the rest is left as it is')
  }

  async #stopInOrder(until: AbortSignal): Promise<void> {
    const last = this.#started.toReversed()
    await Promise.all(last.map((part) => this.#safely(part, 'drain', () => part.drain?.(until))))
    await Promise.all(last.map((part) => this.#safely(part, 'disconnect', () => part.disconnect?.(until))))
    for (let part = this.#started.at(-1); part; part = this.#started.at(-1)) {
      const stopping = part
      await this.#safely(stopping, 'stop', () => stopping.stop?.())
      this.#started.pop()
    }
  }

  async #safely(part: Part, phase: string, work: () => Promise<void> | void): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#log.error(
        { part: part.name, phase, err: error },
        `could not ${phase} ${part.name}: ${messageOf(error)}`,
      )
    }
  }
}
