import type { Clock } from '../../../kernel/index.ts'
import type { PeerId } from '../wire/index.ts'

const HOUR = 3_600_000

/** Peers that sent bad bytes: for an hour they get files like everyone, but nobody takes from them. */
export class Distrust {
  readonly #clock: Clock
  readonly #until = new Map<PeerId, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(peer: PeerId): void {
    this.#until.set(peer, this.#clock.now() + HOUR)
  }

  has(peer: PeerId): boolean {
    const until = this.#until.get(peer)
    if (until !== undefined && until <= this.#clock.now()) this.#until.delete(peer)
    return this.#until.has(peer)
  }
}
