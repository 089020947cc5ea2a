import type { TargetResult } from '../../transfer-engine.ts'
import type { SwarmTarget } from './swarm-store.ts'
import { RESULT } from './wire/result-code.ts'

interface Standing extends SwarmTarget {
  have: number
  /** When it was last seen connected; it may come back for a while. */
  absentSince: number | undefined
}

/** How each target of one task stands. A target's first end is its last. */
export class TargetBoard {
  readonly #targets = new Map<string, Standing>()
  readonly #pieces: number
  #unsaved: Pick<SwarmTarget, 'key' | 'code' | 'message'>[] = []

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
  end(key: string, code: number, message: string): boolean {
    const target = this.#targets.get(key)
    if (!target || target.code !== RESULT.DOWNLOADING) return false
    target.code = code
    target.message = message
    this.#unsaved.push({ key, code, message })
    return true
  }

  progress(key: string, have: number): void {
    const target = this.#targets.get(key)
    if (target) target.have = have
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
  takeUnsaved(): Pick<SwarmTarget, 'key' | 'code' | 'message'>[] {
    const taken = this.#unsaved
    this.#unsaved = []
    return taken
  }

  putBack(results: Pick<SwarmTarget, 'key' | 'code' | 'message'>[]): void {
    this.#unsaved.unshift(...results)
  }

  results(): TargetResult[] {
    return [...this.#targets.values()].map(({ agentId, containerId, code, message, have }) => ({
      agentId,
      containerId,
      errorCode: code,
      errorMessage: message,
      progress: code === RESULT.DONE ? 100 : Math.floor((have * 100) / Math.max(1, this.#pieces)),
    }))
  }
}
