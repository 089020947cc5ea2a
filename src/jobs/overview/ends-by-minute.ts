import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Ledger } from '../../ledger/index.ts'

export const MINUTE = 60_000
/** The kinds of work whose ends the ledger notes, by triggers. */
export const NOTED_KINDS = ['export', 'run', 'transfer', 'processing'] as const
/** An end has its time from the statement that writes it; by then the slowest transaction is over. */
const SETTLED_AFTER = 2
/** Minutes counted in one statement: in an embedded server, nothing else runs meanwhile. */
const SLICE = 5
/** Minutes that somebody may look back. */
const REMEMBERED = 120

export interface Ends {
  kind: string
  minute: number
  finished: number
  failed: number
}

/**
 * What ended in each minute. A minute that is over for a while no longer changes and is counted once for all
 * readers: a reader that polls has only the last minutes read.
 */
export class EndsByMinute {
  readonly #ledger: Ledger
  readonly #kinds: string[]
  readonly #settled = new Map<number, Ends[]>()

  constructor(ledger: Ledger, kinds: string[]) {
    this.#ledger = ledger
    this.#kinds = kinds
  }

  /** From minute `first` to minute `last`, which is the current one; both counted from the epoch. */
  async read(first: number, last: number): Promise<Ends[]> {
    const unsettled = last - SETTLED_AFTER
    // Also what is ahead of a clock that was set back.
    for (const minute of this.#settled.keys()) {
      if (minute < last - REMEMBERED || minute >= unsettled) this.#settled.delete(minute)
    }
    const found: Ends[] = []
    for (let minute = first; minute <= last; ) {
      const known = this.#settled.get(minute)
      if (known) {
        found.push(...known)
        minute++
        continue
      }
      const end = Math.min(minute + SLICE, last + 1)
      const ends = await this.#count(minute, end)
      for (; minute < end; minute++) {
        const own = ends.filter((row) => row.minute === minute)
        if (minute < unsettled) this.#settled.set(minute, own)
        found.push(...own)
      }
      await nextTurn()
    }
    return found
  }

  async #count(from: number, to: number): Promise<Ends[]> {
    const { rows } = await sql<Ends>`
      select kind, at / ${sql.lit(MINUTE)} as minute, sum(1 - failed) as finished, sum(failed) as failed
      from ended_work
      where kind in (${sql.join(this.#kinds)}) and at >= ${from * MINUTE} and at < ${to * MINUTE}
      group by 1, 2`.execute(this.#ledger.db)
    return rows.map(({ kind, minute, finished, failed }) => ({
      kind,
      minute: Number(minute),
      finished: Number(finished),
      failed: Number(failed),
    }))
  }
}
