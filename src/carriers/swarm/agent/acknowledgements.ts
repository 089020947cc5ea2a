import type { TLSSocket } from 'node:tls'
import type { Clock } from '../../../kernel/index.ts'
import { ackFrame } from '../pieces/index.ts'

/** At least every N pieces, which is half of what a parent lets be on its way. */
const MOST_PIECES = 4
/** On a slow line every piece is told of: it is a sign of life too. On a fast one that would cost more than it tells. */
const EVERY_MS = 50

/** Tells a parent how many pieces have arrived. */
export class Acknowledgements {
  readonly #socket: TLSSocket
  readonly #clock: Clock
  readonly #pieces: number
  #told: { have: number; at: number }

  constructor(
    { socket, clock }: { socket: TLSSocket; clock: Clock },
    { have, pieces }: { have: number; pieces: number },
  ) {
    this.#socket = socket
    this.#clock = clock
    this.#pieces = pieces
    this.#told = { have, at: 0 }
  }

  arrived(have: number): void {
    const now = this.#clock.now()
    const { have: before, at } = this.#told
    if (have < this.#pieces && have < before + MOST_PIECES && now < at + EVERY_MS) return
    this.#told = { have, at: now }
    this.#socket.write(ackFrame(have))
  }
}
