export interface HeadProbeOptions {
  /** When to measure, counted from a head's first pace; the last interval repeats. */
  everyMs?: number[]
  /** So many times faster than the head: then the head is slow, not the line out of the source. */
  factor?: number
  /** After the first two, one question for this many pieces: what it costs stays below one part in a hundred. */
  apartPieces?: number
  /** Fewer pieces than this left: not worth a question. */
  worthPieces?: number
}

interface Asked {
  head: string
  prober: string
}

/**
 * Finds a slow first agent of a chain. No agent after it can be faster, so its pace looks normal; but the source's line
 * out is then half idle, and one piece sent to somebody else shows it. The price is that one piece, now and then. One
 * answer only raises a suspicion, for the head may just have had a bad moment; the next one, asked at once, decides.
 */
export class HeadProbe {
  readonly #options: Required<HeadProbeOptions>
  readonly #asked = new Map<number, Asked>()
  readonly #next = new Map<string, { at: number; count: number; left: number; suspect: boolean }>()
  #numbers = 0
  /** Pace of the head that was replaced last; if its successor is no better, the line is what is slow. */
  #replaced: number | undefined
  #off = false

  constructor(options: HeadProbeOptions = {}) {
    this.#options = { everyMs: [0, 1_000, 4_000], factor: 3, apartPieces: 128, worthPieces: 24, ...options }
  }

  /** Questions that are due: which agent should take one piece from the source, on behalf of which head. */
  due(
    now: number,
    heads: { id: string; pace: number | undefined; left: number }[],
    probers: string[],
  ): { probe: number; prober: string }[] {
    const questions: { probe: number; prober: string }[] = []
    for (const { id, pace, left } of heads) {
      if (this.#off || pace === undefined || left < this.#options.worthPieces) continue
      if (this.#replaced !== undefined && pace < this.#replaced * 1.5) {
        this.#off = true
        break
      }
      const next = this.#next.get(id) ?? {
        at: now + (this.#options.everyMs[0] ?? 0),
        count: 0,
        left,
        suspect: false,
      }
      this.#next.set(id, next)
      const prober = probers[this.#numbers % Math.max(1, probers.length)]
      if (now < next.at || prober === undefined) continue
      if (next.count >= 2 && !next.suspect && next.left - left < this.#options.apartPieces) continue
      next.count++
      next.left = left
      next.at = now + (this.#options.everyMs[next.count] ?? this.#options.everyMs.at(-1) ?? 0)
      const probe = ++this.#numbers
      this.#asked.set(probe, { head: id, prober })
      questions.push({ probe, prober })
    }
    return questions
  }

  /** The head to replace, if the answer shows that it is slow. */
  answered(
    { probe, prober, rate, now }: { probe: number; prober: string; rate: number; now: number },
    paceOf: (id: string) => number | undefined,
  ): string | undefined {
    const asked = this.#asked.get(probe)
    this.#asked.delete(probe)
    if (!asked || asked.prober !== prober) return undefined
    const pace = paceOf(asked.head)
    const next = this.#next.get(asked.head)
    if (!next) return undefined
    const confirmed = next.suspect
    next.suspect = pace !== undefined && rate >= pace * this.#options.factor
    if (!next.suspect) return undefined
    if (!confirmed) {
      next.at = now
      return undefined
    }
    this.#replaced = pace
    return asked.head
  }
}
