import type { Clock } from '../../kernel/index.ts'

const HOUR_MS = 3_600_000
/** So many entries may the audit log get in an hour: it cannot be shortened, and an attacker must not fill the disk with it. */
const MOST_PER_HOUR = 60

/** Which refused attempts are recorded: the first of an address in an hour, and at most N of all addresses. */
export class RefusedAttempts {
  readonly #clock: Clock
  readonly #seen = new Set<string>()
  #hour = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isNew(address: string): boolean {
    const hour = Math.floor(this.#clock.now() / HOUR_MS)
    if (hour !== this.#hour) this.#seen.clear()
    this.#hour = hour
    if (this.#seen.has(address) || this.#seen.size >= MOST_PER_HOUR) return false
    this.#seen.add(address)
    return true
  }
}
