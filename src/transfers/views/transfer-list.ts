import { sql } from 'kysely'
import { type Ledger, readCursor, writeCursor } from '../../ledger/index.ts'
import type { TransferStatus } from '../tables.ts'
import { toWindow } from '../windows/index.ts'
import { type TransferJobItem, toJobItem } from './transfer-view.ts'

export interface JobListOptions {
  /** Left out: of every project. */
  projectId?: string
  status?: TransferStatus
  limit: number
  cursor?: string
}

/** In the words of the partial indexes: SQLite uses one only where a statement repeats its condition. */
const OPEN = sql<boolean>`status in ('Pending', 'Running')`

/** Deliveries and windows that still collect, newest first, with their counts; targets are read for open windows only. */
export class TransferList {
  readonly #ledger: Ledger
  readonly #windowMs: number

  constructor(ledger: Ledger, { windowSeconds }: { windowSeconds: number }) {
    this.#ledger = ledger
    this.#windowMs = windowSeconds * 1000
  }

  async jobs(options: JobListOptions): Promise<{ items: TransferJobItem[]; next_cursor: string | null }> {
    let query = this.#ledger.db
      .selectFrom('transfer_windows')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(options.limit + 1)
    if (options.projectId !== undefined) query = query.where('project_id', '=', options.projectId)
    if (options.status !== undefined) query = query.where('status', '=', options.status)
    if (options.status === 'Pending' || options.status === 'Running') query = query.where(OPEN)
    if (options.cursor !== undefined) {
      const { at, id } = readCursor(options.cursor)
      query = query.where(sql<boolean>`(created_at, id) < (${at}, ${id})`)
    }
    const rows = await query.execute()
    const page = rows.slice(0, options.limit).map(toWindow)
    const collecting = page.filter(({ status }) => status === 'Pending').map(({ id }) => id)
    const collected = await this.#collected(collecting)
    const last = page.at(-1)
    return {
      items: page.map((window) => toJobItem(window, this.#windowMs, collected.get(window.id))),
      next_cursor:
        rows.length > options.limit && last ? writeCursor({ at: last.createdAt, id: last.id }) : null,
    }
  }

  async #collected(windowIds: string[]): Promise<Map<string, number>> {
    if (windowIds.length === 0) return new Map()
    const rows = await this.#ledger.db
      .selectFrom('transfer_targets')
      .select(['window_id', ({ fn }) => fn.countAll<number>().as('count')])
      .where('window_id', 'in', windowIds)
      .groupBy('window_id')
      .execute()
    return new Map(rows.map(({ window_id, count }) => [window_id, Number(count)]))
  }
}
