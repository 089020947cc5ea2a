import { SOURCE } from './relay-plan.ts'

export interface PaceWatchOptions {
  /** A pace is taken over at least and at most this long: a shorter time shows bursts, a longer one the past. */
  leastMs?: number
  mostMs?: number
  /** How many looks in a row must find the same before it counts. */
  looks?: number
  /** Silent for longer than this, and N times longer than the others: frozen, or gone without a word. */
  silentMs?: number
  silentTimes?: number
  /** How long the fastest pace is remembered. */
  memoryMs?: number
  /** Pieces that must lie ready at the parent before they count as waiting: what is under way is less. */
  waitingPieces?: number
}

interface Seen {
  /** Latest last. */
  points: { at: number; have: number }[]
  /** When it last gave a sign of life: a report, or a piece that its parent heard had arrived. */
  heardAt: number
  arrived: number
  /** Looks in a row at which it held others up. */
  slowLooks: number
  children: Map<string, number>
}

export interface Surroundings {
  parentOf(id: string): string
  childrenOf(id: string): string[]
  pieces: number
}

/**
 * Knows every agent's pace and says who holds others up. An agent is the bottleneck only if data waits for it at its
 * parent *and* its pace is below half of the fastest, divided by the number of children its parent serves. Lag alone
 * says nothing: every agent after a slow one lags.
 */
export class PaceWatch {
  readonly #options: Required<PaceWatchOptions>
  readonly #seen = new Map<string, Seen>()
  #lookedAt: number | undefined
  /** How long ago the better part of the agents was heard of. */
  #usualGap = 0
  /** Earliest first, each faster than all that came after it: the first is the fastest of its time. */
  readonly #fastest: { pace: number; at: number }[] = []

  constructor(options: PaceWatchOptions = {}) {
    this.#options = {
      leastMs: 480,
      mostMs: 1_500,
      looks: 3,
      silentMs: 500,
      silentTimes: 6,
      memoryMs: 3_000,
      waitingPieces: 8,
      ...options,
    }
  }

  /** An agent starts anew, by being taken in or given another parent: what came before says nothing about now. */
  reset(id: string, now: number, have = this.#seen.get(id)?.points.at(-1)?.have ?? 0): void {
    const children = this.#seen.get(id)?.children ?? new Map()
    this.#seen.set(id, { points: [{ at: now, have }], heardAt: now, arrived: have, slowLooks: 0, children })
  }

  /**
   * Called at every look. A look that comes late was held up itself, and then nobody could be heard: that time counts
   * against no one. On a machine that is short of time everyone is heard of late, so silence is measured by what is
   * usual among the better quarter: most may be frozen, but hardly all.
   */
  looked(now: number, everyMs: number): void {
    const late = now - (this.#lookedAt ?? now) - everyMs
    this.#lookedAt = now
    if (late > everyMs / 2) for (const seen of this.#seen.values()) seen.heardAt += late
    const gaps = [...this.#seen.values()].map(({ heardAt }) => now - heardAt).sort((a, b) => a - b)
    this.#usualGap = gaps[Math.floor((gaps.length - 1) / 4)] ?? 0
  }

  forget(id: string): void {
    this.#seen.delete(id)
  }

  report(id: string, now: number, have: number, children: { id: string; waiting: number }[]): void {
    const seen = this.#seen.get(id)
    if (!seen) return
    seen.heardAt = now
    seen.children = new Map(children.map((child) => [child.id, child.waiting]))
    for (const child of children) this.arrived(child.id, now, have - child.waiting)
    seen.points.push({ at: now, have })
    while ((seen.points[1]?.at ?? now) <= now - this.#options.mostMs) seen.points.shift()
    const pace = this.pace(id)
    if (pace !== undefined) this.#noteFastest(pace, now)
  }

  /** So many pieces have arrived at a child, as its parent knows: a sign of life that no report is needed for. */
  arrived(id: string, now: number, count: number): void {
    const seen = this.#seen.get(id)
    if (!seen || count <= seen.arrived) return
    seen.arrived = count
    seen.heardAt = now
  }

  have(id: string): number {
    return this.#seen.get(id)?.points.at(-1)?.have ?? 0
  }

  /** Pieces a second, once there was time to measure. */
  pace(id: string): number | undefined {
    const points = this.#seen.get(id)?.points ?? []
    const first = points[0]
    const last = points.at(-1)
    if (!first || !last || last.at - first.at < this.#options.leastMs) return undefined
    return ((last.have - first.have) * 1000) / (last.at - first.at)
  }

  fastest(now: number): number {
    const forgotten = now - this.#options.memoryMs
    while ((this.#fastest[0]?.at ?? now) <= forgotten) this.#fastest.shift()
    return this.#fastest[0]?.pace ?? 0
  }

  isSilent(id: string, now: number): boolean {
    const seen = this.#seen.get(id)
    const { silentMs, silentTimes } = this.#options
    return seen !== undefined && now - seen.heardAt > Math.max(silentMs, silentTimes * this.#usualGap)
  }

  /** To be asked once a look: a single one may catch a moment's hiccup. */
  isBottleneck(id: string, now: number, around: Surroundings): boolean {
    const seen = this.#seen.get(id)
    if (!seen) return false
    seen.slowLooks = this.#holdsUp(id, now, around) ? seen.slowLooks + 1 : 0
    return seen.slowLooks >= this.#options.looks
  }

  #noteFastest(pace: number, at: number): void {
    while ((this.#fastest.at(-1)?.pace ?? Number.POSITIVE_INFINITY) <= pace) this.#fastest.pop()
    this.#fastest.push({ pace, at })
    this.fastest(at)
  }

  #holdsUp(id: string, now: number, { parentOf, childrenOf, pieces }: Surroundings): boolean {
    const pace = this.pace(id)
    if (pace === undefined || this.have(id) >= pieces) return false
    const parent = parentOf(id)
    if (this.#waitingAt(parent, id, pieces) < this.#options.waitingPieces) return false
    const busy = childrenOf(parent).filter((child) => this.have(child) < pieces).length
    return pace < this.fastest(now) / 2 / Math.max(1, busy)
  }

  #waitingAt(parent: string, id: string, pieces: number): number {
    if (parent === SOURCE) return pieces - this.have(id)
    return this.#seen.get(parent)?.children.get(id) ?? 0
  }
}
