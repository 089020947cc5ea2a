import type { Selectable } from 'kysely'
import { activeIn } from '../../jobs/index.ts'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { type Ledger, now, type Schema, type Tx } from '../../ledger/index.ts'
import { maskUrl, openUrl, type Sealer, sealUrl } from '../../tenancy/index.ts'
import type { AccountParams } from '../feed/item-filter.ts'
import { RUN_KIND } from '../run-kind.ts'

/** In Chinese these words are fixed, for both ways in which an account is busy. */
export const BUSY = { zh: '该账号任务已在队列/运行中' }

export interface Account {
  handle: string
  /** As the ledger keeps it. */
  url: string
  params: AccountParams
  runId: string | null
  cursor: string | null
}

/** Accounts can be changed only while no run of theirs is under way. */
export class AccountStore {
  readonly #ledger: Ledger
  readonly #sealer: Sealer

  constructor(ledger: Ledger, sealer: Sealer) {
    this.#ledger = ledger
    this.#sealer = sealer
  }

  async put(tx: Tx, { handle, url, params }: Pick<Account, 'handle' | 'url' | 'params'>): Promise<void> {
    const values = { url: sealUrl(this.#sealer, url), params: JSON.stringify(params), updated_at: now }
    const inserted = await tx.db
      .insertInto('accounts')
      .values({ handle, ...values, run_id: null, cursor: null, last_run: null })
      .onConflict((conflict) => conflict.doNothing())
      .returning('handle')
      .executeTakeFirst()
    if (inserted) return
    const before = await this.lock(tx, handle)
    await this.#refuseLocked(tx, handle)
    // A cursor means something to the feed that gave it, and nothing to another one.
    const isSame = openUrl(this.#sealer, before.url) === url
    // The address as it was shown, sent back: its password stays.
    const isShown = maskUrl(before.url) === url
    await tx.db
      .updateTable('accounts')
      .set({
        ...values,
        ...(isShown && { url: before.url }),
        cursor: isSame || isShown ? before.cursor : null,
      })
      .where('handle', '=', handle)
      .execute()
  }

  /** Takes the account off the list. Its files stay where they are. */
  async delete(tx: Tx, handle: string): Promise<void> {
    await this.lock(tx, handle)
    await this.#refuseLocked(tx, handle)
    await tx.db.deleteFrom('account_files').where('handle', '=', handle).execute()
    await tx.db.deleteFrom('accounts').where('handle', '=', handle).execute()
  }

  /** Reads the account and keeps everybody else from changing it or starting a run until the transaction ends. */
  async lock(tx: Tx, handle: string): Promise<Account> {
    let query = tx.db.selectFrom('accounts').selectAll().where('handle', '=', handle)
    if (this.#ledger.dialect === 'postgres') query = query.forUpdate()
    const row = await query.executeTakeFirst()
    if (!row) throw accountNotFound(handle)
    return toAccount(row)
  }

  async isLocked(tx: Tx, handle: string): Promise<boolean> {
    const job = await tx.db
      .selectFrom('jobs')
      .select('id')
      .where('owner', '=', handle)
      .where('kind', '=', RUN_KIND)
      .where(activeIn())
      .executeTakeFirst()
    return job !== undefined
  }

  async #refuseLocked(tx: Tx, handle: string): Promise<void> {
    if (await this.isLocked(tx, handle))
      throw new AppError(
        ERRORS.ACCOUNT_LOCKED,
        `the account '${handle}' is locked while its run is queued or running; cancel the run first`,
        { details: { handle }, words: BUSY },
      )
  }
}

export function accountNotFound(handle: string): AppError {
  return new AppError(ERRORS.ACCOUNT_NOT_FOUND, `there is no account '${handle}'`)
}

function toAccount(row: Selectable<Schema['accounts']>): Account {
  return {
    handle: row.handle,
    url: row.url,
    params: JSON.parse(row.params) as AccountParams,
    runId: row.run_id,
    cursor: row.cursor,
  }
}
