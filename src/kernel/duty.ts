import type { Clock } from './clock.ts'
import { messageOf } from './errors.ts'
import type { Log } from './log.ts'
import { outageOf } from './outage.ts'

/**
 * A background duty: one pass, safe to repeat. Something else decides when, but a pass that returns `nextInMs` knows
 * better than the fixed interval when the next one is worth it.
 */
export interface Duty {
  readonly name: string
  runOnce(signal: AbortSignal): Promise<unknown>
}

export interface DutyLoopOptions {
  everyMs: number
  /** Part of the interval that is random, so that instances started together do not tick together. */
  jitter?: number
}

/** Repeats one duty until stopped. A pass that throws is logged and the next one comes as usual. */
export class DutyLoop {
  readonly #duty: Duty
  readonly #deps: { clock: Clock; log: Log }
  readonly #options: DutyLoopOptions
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  #failure: string | undefined

  constructor(duty: Duty, deps: { clock: Clock; log: Log }, options: DutyLoopOptions) {
    this.#duty = duty
    this.#deps = deps
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#loop()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** What fails in the same way again and again is said once, and an outage without a stack: it must not fill the log. */
  #failed(error: unknown): void {
    const { log } = this.#deps
    const away = outageOf(error)?.kind.outage
    const reason = away ?? messageOf(error)
    const about = { duty: this.#duty.name, err: error }
    if (reason === this.#failure) log.debug(about, 'duty failed again')
    else if (away) log.warn({ duty: this.#duty.name }, `duty waits for the ${away}`)
    else log.warn(about, 'duty failed, will try again')
    this.#failure = reason
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop
    const { everyMs, jitter = 0.1 } = this.#options
    while (!signal.aborted) {
      let wait = everyMs * (1 - jitter + 2 * jitter * Math.random())
      try {
        wait = nextInMs(await this.#duty.runOnce(signal)) ?? wait
        this.#failure = undefined
      } catch (error) {
        if (!signal.aborted) this.#failed(error)
      }
      await this.#deps.clock.sleep(wait, signal).catch(() => undefined)
    }
  }
}

function nextInMs(result: unknown): number | undefined {
  const next = (result as { nextInMs?: unknown } | undefined)?.nextInMs
  return typeof next === 'number' ? next : undefined
}
