import { sql } from 'kysely'
import type { Static } from 'typebox'
import { type Ledger, readIdCursor, writeIdCursor } from '../../ledger/index.ts'
import { maskUrl } from '../../tenancy/index.ts'
import type { AccountFilePage, FailedFilePage } from '../run-schemas.ts'

export interface FileListOptions {
  limit: number
  cursor?: string
}

/** In the words of the partial indexes: SQLite uses one only where a statement repeats its condition. */
const DONE = sql<boolean>`done = 1`
const FAILED = sql<boolean>`failed_at is not null`

/** What was fetched for an account and what failed, by name, page by page. */
export class AccountFiles {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  async done(handle: string, { limit, cursor }: FileListOptions): Promise<Static<typeof AccountFilePage>> {
    const rows = await this.#ledger.db
      .selectFrom('account_files')
      .select(['item_id', 'name', 'name_key', 'size', 'run_id'])
      .where('handle', '=', handle)
      .where(DONE)
      .where('name_key', '>', readIdCursor(cursor) ?? '')
      .orderBy('name_key')
      .limit(limit + 1)
      .execute()
    const items = rows.slice(0, limit)
    return {
      items: items.map(({ item_id, name, size, run_id }) => ({ item_id, name, size, run_id })),
      next_cursor: cursorAfter(rows, limit),
    }
  }

  async failed(handle: string, { limit, cursor }: FileListOptions): Promise<Static<typeof FailedFilePage>> {
    const rows = await this.#ledger.db
      .selectFrom('account_files')
      .select(['item_id', 'name', 'name_key', 'size', 'run_id', 'url', 'error_code', 'error_message'])
      .select('failed_at')
      .where('handle', '=', handle)
      .where(FAILED)
      .where('name_key', '>', readIdCursor(cursor) ?? '')
      .orderBy('name_key')
      .limit(limit + 1)
      .execute()
    return {
      items: rows.slice(0, limit).map((row) => ({
        item_id: row.item_id,
        name: row.name,
        size: row.size,
        run_id: row.run_id,
        url: row.url === null ? null : maskUrl(row.url),
        error: { code: row.error_code ?? '', message: row.error_message ?? '' },
        failed_at: new Date(row.failed_at ?? 0).toISOString(),
      })),
      next_cursor: cursorAfter(rows, limit),
    }
  }

  /** The name under which a fetched item is in the account's folder. */
  async find(handle: string, itemId: string): Promise<{ name: string; size: number | null } | undefined> {
    return this.#ledger.db
      .selectFrom('account_files')
      .select(['name', 'size'])
      .where('handle', '=', handle)
      .where('item_id', '=', itemId)
      .where(DONE)
      .executeTakeFirst()
  }
}

function cursorAfter(rows: readonly { name_key: string }[], limit: number): string | null {
  const last = rows[limit - 1]
  return rows.length > limit && last ? writeIdCursor(last.name_key) : null
}
