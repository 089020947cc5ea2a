import { ArrivingPiece } from '../../pieces/index.ts'
import type { Manifest } from '../../wire/index.ts'

/** How far the disk may lag the connection. */
export const RECENT_PIECES = 4

/** The pieces that came in last: children that keep up are fed from here, and the disk takes its own time. */
export class RecentPieces {
  readonly #manifest: Manifest
  readonly #slots: ArrivingPiece[] = []

  constructor(manifest: Manifest) {
    this.#manifest = manifest
  }

  find(index: number): ArrivingPiece | undefined {
    const slot = this.#slots[index % RECENT_PIECES]
    return slot?.index === index ? slot : undefined
  }

  /** Room for this piece, in place of the one that came N pieces before it. */
  expect(index: number): ArrivingPiece {
    const at = index % RECENT_PIECES
    const slot = this.#slots[at] ?? new ArrivingPiece(this.#manifest)
    this.#slots[at] = slot
    slot.expect(index)
    return slot
  }
}
