import type { Manifest } from '../wire/index.ts'

/** A file, whole or growing from its start, that others may take pieces of. */
export interface Holding {
  readonly task: string
  readonly manifest: Manifest
  /** Pieces from the start that are checked and on disk. */
  readonly have: number
  /** Fills `into` with the piece; it is one of the first `have`. */
  read(index: number, into: Buffer): Promise<void>
  /** A piece that is still in memory. One that is not is either on disk or not here at all. */
  live(index: number): LivePiece | undefined
  /** Until the function that comes back is called. */
  watch(watcher: HoldingWatcher): () => void
}

/** A piece in memory, perhaps not all of it. What it holds is good for as long as nobody waits for anything. */
export interface LivePiece {
  readonly index: number
  readonly blockHashes: Buffer
  readonly bytes: Buffer
  /** So many bytes from the start are here and checked; from the first of them on, so are the hashes. */
  readonly checked: number
}

export interface HoldingWatcher {
  /** There is more than before. */
  grown(): void
  /** There will never be more. */
  ended(): void
}
