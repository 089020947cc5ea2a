/** How much of the newest measure counts. */
const WEIGHT = 0.3

interface Seen {
  at: number
  amount: number
  perSecond: number | null
}

/** How fast something grows, smoothed, from what events say of it. */
export class Rates {
  readonly #seen = new Map<string, Seen>()

  note(id: string, amount: number, at: number): void {
    const last = this.#seen.get(id)
    // It has begun anew, or this is the first word of it.
    if (!last || amount < last.amount) {
      this.#seen.set(id, { at, amount, perSecond: null })
      return
    }
    if (at <= last.at) return
    const now = ((amount - last.amount) / (at - last.at)) * 1_000
    const perSecond = last.perSecond === null ? now : last.perSecond + WEIGHT * (now - last.perSecond)
    this.#seen.set(id, { at, amount, perSecond })
  }

  forget(id: string): void {
    this.#seen.delete(id)
  }

  perSecond(id: string): number | null {
    return this.#seen.get(id)?.perSecond ?? null
  }
}
