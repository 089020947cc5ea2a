import { type Ledger, now, type Tx } from '../ledger/index.ts'
import type { Quotas } from './quotas.ts'

/** A writer that is alive has come to its end, or reserved again, within this time. */
const LEFT_MS = 24 * 3_600_000
const BATCH = 100

/**
 * Room on disk for files that are being written, counted towards the quota of their project before the first byte:
 * writers at the same time share what is left instead of each having all of it. A reservation is one row, which its writer
 * takes back in the transaction that counts the file itself.
 */
export class DiskReservations {
  readonly #deps: { ledger: Ledger; quotas: Quotas }

  constructor(deps: { ledger: Ledger; quotas: Quotas }) {
    this.#deps = deps
  }

  /** Throws if the project has too little left. `size` is all that this writer needs, so repeating it is harmless. */
  async reserve(id: string, projectId: string, size: number): Promise<void> {
    const { ledger, quotas } = this.#deps
    const limit = await quotas.limitOf(projectId, 'disk_bytes')
    if (limit === null) return
    await ledger.transaction(async (tx) => {
      const before = await tx.db
        .selectFrom('disk_reservations')
        .select('size')
        .where('id', '=', id)
        .executeTakeFirst()
      await tx.db
        .insertInto('disk_reservations')
        .values({ id, project_id: projectId, size, created_at: now })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ size, created_at: now }))
        .execute()
      quotas.take(tx, projectId, size - Number(before?.size ?? 0), limit)
    })
  }

  /** Ends a reservation with the commit. Returns what it held, which is still counted. */
  async settle(tx: Tx, id: string): Promise<{ projectId: string; size: number } | undefined> {
    const gone = await tx.db
      .deleteFrom('disk_reservations')
      .where('id', '=', id)
      .returning(['project_id', 'size'])
      .executeTakeFirst()
    return gone && { projectId: gone.project_id, size: Number(gone.size) }
  }

  /** Harmless when repeated, and for what was never reserved. */
  async release(id: string): Promise<void> {
    const { ledger, quotas } = this.#deps
    await ledger.transaction(async (tx) => {
      const held = await this.settle(tx, id)
      if (held) quotas.add(tx, held.projectId, { disk: -held.size })
    })
  }

  /** What writers have left that died. */
  async sweep(): Promise<void> {
    const { ledger } = this.#deps
    const left = await ledger.db
      .selectFrom('disk_reservations')
      .select('id')
      .where('created_at', '<', (await ledger.now()) - LEFT_MS)
      .orderBy('created_at')
      .limit(BATCH)
      .execute()
    for (const { id } of left) await this.release(id)
  }
}
