import type { TargetResult } from '../../../carrier.ts'
import { type PlaceOutcome, RESULT } from '../../wire/index.ts'
import { resultsOf } from '../results-of.ts'
import type { SwarmTarget, TargetEnd } from '../swarm-store.ts'

interface Standing extends SwarmTarget {
  have: number
  /** When it was last seen connected; it may come back for a while. */
  absentSince: number | undefined
}

/** The state of each target of one task. A target's first end is its last. */
export class TargetBoard {
  readonly #targets = new Map<string, Standing>()
  readonly #pieces: number
  #unsaved: TargetEnd[] = []

  constructor(targets: SwarmTarget[], pieces: number, now: number) {
    this.#pieces = pieces
    for (const target of targets) this.#targets.set(target.key, { ...target, have: 0, absentSince: now })
  }

  get keys(): string[] {
    return [...this.#targets.keys()]
  }

  get isOver(): boolean {
    return this.open.length === 0
  }

  get open(): string[] {
    return this.keys.filter((key) => this.isOpen(key))
  }

  target(key: string): SwarmTarget | undefined {
    return this.#targets.get(key)
  }

  isOpen(key: string): boolean {
    return this.#targets.get(key)?.code === RESULT.DOWNLOADING
  }

  /** True if this was news: the target was open until now. */
  end(key: string, { code, message, places }: PlaceOutcome & { places?: PlaceOutcome[] }): boolean {
    const target = this.#targets.get(key)
    if (!target || target.code !== RESULT.DOWNLOADING) return false
    target.code = code
    target.message = message
    if (places?.length === target.places.length)
      target.places = target.places.map((place, index) => ({ ...place, ...places[index] }))
    const { agentId, containerId } = target
    this.#unsaved.push({ key, agentId, containerId, code, message, ...(places && { places: target.places }) })
    return true
  }

  progress(key: string, have: number): void {
    const target = this.#targets.get(key)
    if (target) target.have = Math.min(have, this.#pieces)
  }

  present(key: string): void {
    const target = this.#targets.get(key)
    if (target) target.absentSince = undefined
  }

  absent(key: string, now: number): void {
    const target = this.#targets.get(key)
    if (target) target.absentSince ??= now
  }

  /** Open targets that have been away for longer than this. */
  lost(now: number, afterMs: number): string[] {
    return this.open.filter((key) => {
      const since = this.#targets.get(key)?.absentSince
      return since !== undefined && now - since > afterMs
    })
  }

  /** Ends that were not yet taken to be kept. */
  takeUnsaved(): TargetEnd[] {
    const taken = this.#unsaved
    this.#unsaved = []
    return taken
  }

  putBack(results: TargetEnd[]): void {
    this.#unsaved.unshift(...results)
  }

  results(): TargetResult[] {
    return [...this.#targets.values()].flatMap((target) =>
      resultsOf(
        target,
        Math.floor((target.have * 100) / Math.max(1, this.#pieces)),
        target.absentSince === undefined,
      ),
    )
  }
}
