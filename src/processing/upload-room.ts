import { type Ledger, now } from '../ledger/index.ts'
import type { Quotas } from '../tenancy/index.ts'

const BATCH = 100

/**
 * The room that uploads under way may come to take, counted towards their project's quota from their beginning: otherwise
 * uploads that are never finished would fill the disk. An upload that has become a task is counted as that.
 */
export class UploadRoom {
  readonly #deps: { ledger: Ledger; quotas: Quotas }

  constructor(deps: { ledger: Ledger; quotas: Quotas }) {
    this.#deps = deps
  }

  /** Throws if the project has less room left than the upload says it needs. */
  async reserve(id: string, projectId: string, size: number): Promise<void> {
    const { ledger, quotas } = this.#deps
    await quotas.require(projectId, 'disk_bytes')
    const limit = await quotas.limitOf(projectId, 'disk_bytes')
    await ledger.transaction(async (tx) => {
      const made = await tx.db
        .insertInto('processing_uploads')
        .values({ id, project_id: projectId, size, created_at: now })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst()
      if (made) quotas.take(tx, projectId, size, limit)
    })
  }

  /** Harmless when repeated, and for what was never reserved. */
  async release(id: string): Promise<void> {
    const { ledger, quotas } = this.#deps
    await ledger.transaction(async (tx) => {
      const gone = await tx.db
        .deleteFrom('processing_uploads')
        .where('id', '=', id)
        .returning(['project_id', 'size'])
        .executeTakeFirst()
      if (gone) quotas.add(tx, gone.project_id, { disk: -Number(gone.size) })
    })
  }

  /** What was begun so long ago that its file was swept, on whichever instance it was. */
  async releaseOlderThan(ms: number): Promise<void> {
    const { ledger } = this.#deps
    const old = await ledger.db
      .selectFrom('processing_uploads')
      .select('id')
      .where('created_at', '<', (await ledger.now()) - ms)
      .orderBy('created_at')
      .limit(BATCH)
      .execute()
    for (const { id } of old) await this.release(id)
  }
}
