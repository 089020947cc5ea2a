import type { Duty } from '../kernel/index.ts'
import { type Ledger, now } from '../ledger/index.ts'
import type { ArtifactStore } from '../storage/index.ts'
import type { Quotas } from '../tenancy/index.ts'
import { KeptRowsStore } from './pipeline/index.ts'

/** Deletes files, and rows that were kept, past their keep-until. Safe to repeat: removal precedes the mark. */
export class ExpirySweeper implements Duty {
  readonly name = 'export-expiry'
  readonly #deps: { ledger: Ledger; store: ArtifactStore; quotas: Quotas }
  readonly #kept: KeptRowsStore
  readonly #batch: number

  constructor(
    deps: { ledger: Ledger; store: ArtifactStore; quotas: Quotas },
    { batch = 100 }: { batch?: number } = {},
  ) {
    this.#deps = deps
    this.#kept = new KeptRowsStore(deps)
    this.#batch = batch
  }

  async runOnce(signal: AbortSignal): Promise<{ swept: number }> {
    const { ledger, store, quotas } = this.#deps
    const at = await ledger.now()
    let swept = 0
    while (!signal.aborted) {
      const due = await ledger.db
        .selectFrom('export_files')
        .select(['job_id', 'artifact_key', 'project_id', 'size'])
        .where('removed_at', 'is', null)
        .where('expires_at', '<=', at)
        .orderBy('expires_at')
        .limit(this.#batch)
        .execute()
      for (const { job_id, artifact_key, project_id, size } of due) {
        await store.delete(artifact_key)
        await ledger.transaction(async (tx) => {
          const marked = await tx.db
            .updateTable('export_files')
            .set({ removed_at: now })
            .where('job_id', '=', job_id)
            .where('removed_at', 'is', null)
            .executeTakeFirst()
          if (marked.numUpdatedRows > 0n && project_id !== null)
            quotas.add(tx, project_id, { disk: -Number(size) })
        })
        swept++
      }
      if (due.length < this.#batch) break
    }
    for (let found = this.#batch; found === this.#batch && !signal.aborted; swept += found)
      found = await this.#kept.sweep(at, this.#batch)
    return { swept }
  }
}
