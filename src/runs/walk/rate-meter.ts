import type { Clock } from '../../kernel/index.ts'

const WINDOW_MS = 4_000

/** Bytes a second over the last seconds. */
export class RateMeter {
  readonly #clock: Clock
  readonly #samples: { at: number; total: number }[]
  #total = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#samples = [{ at: clock.now(), total: 0 }]
  }

  add(bytes: number): void {
    this.#total += bytes
  }

  /** Takes a sample; to be called a few times a second. */
  rate(): number {
    const at = this.#clock.now()
    this.#samples.push({ at, total: this.#total })
    while (this.#samples.length > 2 && (this.#samples[1]?.at ?? at) <= at - WINDOW_MS) this.#samples.shift()
    const first = this.#samples[0] ?? { at, total: 0 }
    return at === first.at ? 0 : Math.round(((this.#total - first.total) * 1000) / (at - first.at))
  }
}
