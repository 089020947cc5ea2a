import type { Duty, Log } from '../kernel/index.ts'
import type { ArtifactStore } from './artifact-store.ts'

export interface FoundArtifact {
  key: string
  modifiedAt: number
}

/** A domain that keeps artifacts below a prefix, and knows which of them it still needs. */
export interface ArtifactOwner {
  readonly prefix: string
  /**
   * Those that nothing refers to, and to which nothing can refer later on. What this ledger has never heard of is left
   * alone: a bucket may hold the files of another installation.
   */
  orphans(found: readonly FoundArtifact[]): Promise<string[]>
}

const DAY = 24 * 3_600_000

/**
 * Deletes what claims that were overtaken have left in the store, and uploads that were never completed. Safe to repeat
 * and to run twice at once: an orphan stays one, and what is being written belongs to a claim that holds.
 */
export class OrphanSweeper implements Duty {
  readonly name = 'orphan-sweeper'
  readonly #deps: { store: ArtifactStore; owners: readonly ArtifactOwner[]; log: Log }
  readonly #batch: number

  constructor(
    deps: { store: ArtifactStore; owners: readonly ArtifactOwner[]; log: Log },
    { batch = 200 }: { batch?: number } = {},
  ) {
    this.#deps = deps
    this.#batch = batch
  }

  async runOnce(signal: AbortSignal): Promise<{ orphans: number; unfinished: number }> {
    const { store, owners, log } = this.#deps
    let orphans = 0
    for (const owner of owners) {
      let found: FoundArtifact[] = []
      for await (const { key, modifiedAt } of store.list(owner.prefix)) {
        if (signal.aborted) break
        found.push({ key, modifiedAt })
        if (found.length < this.#batch) continue
        orphans += await this.#sweep(owner, found)
        found = []
      }
      if (!signal.aborted) orphans += await this.#sweep(owner, found)
    }
    const unfinished = signal.aborted ? 0 : await store.sweepStale(DAY, signal, (key) => this.#isInUse(key))
    if (orphans + unfinished > 0) log.info({ orphans, unfinished }, 'the file store was swept')
    return { orphans, unfinished }
  }

  async #sweep(owner: ArtifactOwner, found: FoundArtifact[]): Promise<number> {
    if (found.length === 0) return 0
    const keys = await owner.orphans(found)
    for (const key of keys) await this.#deps.store.delete(key)
    return keys.length
  }

  /** An upload that takes longer than a day is still one, as long as its claim holds. */
  async #isInUse(key: string): Promise<boolean> {
    const owner = this.#deps.owners.find(({ prefix }) => key.startsWith(prefix))
    return owner !== undefined && (await owner.orphans([{ key, modifiedAt: 0 }])).length === 0
  }
}
