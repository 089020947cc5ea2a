import type { Clock, Duty } from '../../kernel/index.ts'

/**
 * Passes over its turns while its duty has nothing to do, for `restMs` at most or until it is woken: an installation
 * where nobody uses these tasks is not asked about them every few seconds.
 */
export class RestingDuty implements Duty {
  readonly name: string
  readonly #duty: { runOnce(signal: AbortSignal): Promise<{ idle: boolean }> }
  readonly #clock: Clock
  readonly #restMs: number
  #restsSince: number | undefined
  #woken = false

  constructor(
    duty: { name: string; runOnce(signal: AbortSignal): Promise<{ idle: boolean }> },
    clock: Clock,
    restMs: number,
  ) {
    this.name = duty.name
    this.#duty = duty
    this.#clock = clock
    this.#restMs = restMs
  }

  wake(): void {
    this.#woken = true
    this.#restsSince = undefined
  }

  async runOnce(signal: AbortSignal): Promise<void> {
    const rested = this.#clock.now() - (this.#restsSince ?? Number.NEGATIVE_INFINITY)
    if (rested >= 0 && rested < this.#restMs) return
    this.#woken = false
    const { idle } = await this.#duty.runOnce(signal)
    // What woke it meanwhile may have come after the look.
    this.#restsSince = idle && !this.#woken ? this.#clock.now() : undefined
  }
}
