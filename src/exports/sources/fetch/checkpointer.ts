import type { Clock } from '../../../kernel/index.ts'
import type { SpoolFolder, SpoolMeta } from '../spool/index.ts'

/**
 * Saves the meta every so often, beside the fetching and never twice at once. `snapshot` must count only what has been
 * written to the files.
 */
export class Checkpointer {
  readonly #deps: { clock: Clock; folder: SpoolFolder; snapshot: () => SpoolMeta }
  readonly #everyMs: number
  #last: number
  #running: Promise<void> | undefined
  #failure: { error: unknown } | undefined

  constructor(
    deps: { clock: Clock; folder: SpoolFolder; snapshot: () => SpoolMeta },
    { everyMs }: { everyMs: number },
  ) {
    this.#deps = deps
    this.#everyMs = everyMs
    this.#last = deps.clock.now()
  }

  get due(): boolean {
    return this.#running === undefined && this.#deps.clock.now() - this.#last >= this.#everyMs
  }

  /** Starts a save, unless one is under way. An earlier one's failure surfaces here. */
  begin(): void {
    if (this.#failure) throw this.#failure.error
    if (this.#running !== undefined) return
    this.#last = this.#deps.clock.now()
    this.#running = this.#save()
      .catch((error: unknown) => {
        this.#failure = { error }
      })
      .finally(() => {
        this.#running = undefined
      })
  }

  /** Returns when everything written before this call is counted on disk. */
  async save(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    this.begin()
    await this.#running
    if (this.#failure) throw this.#failure.error
  }

  /** Returns when nothing is being written any more. To be awaited before the folder is left: the next one may remove it. */
  async idle(): Promise<void> {
    await this.#running
  }

  #save(): Promise<void> {
    return this.#deps.folder.checkpoint(this.#deps.snapshot())
  }
}
