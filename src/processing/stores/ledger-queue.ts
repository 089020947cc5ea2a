import { sql } from 'kysely'
import { type Clock, follow } from '../../kernel/index.ts'
import { now, type Tx } from '../../ledger/index.ts'
import { type TaskReport, TEXT, writeReport } from '../task.ts'
import type { Claim, TaskEnd, TaskQueue } from './task-queue.ts'
import type { TaskRows } from './task-rows.ts'

const LOOK_AGAIN_MS = 5_000

interface LedgerClaim extends Claim {
  readonly fence: number
}

/**
 * Claims in the ledger. There is no Redis, so only one process runs, and its own processor is the only one: what is marked
 * as PROCESSING when it starts belongs to nobody.
 */
export class LedgerTaskQueue implements TaskQueue {
  readonly #deps: { rows: TaskRows; clock: Clock }
  readonly #maxReturns: number
  /** Slots that look or wait; a task that arrives meanwhile ends the wait. */
  readonly #waiting = new Set<AbortController>()

  constructor(deps: { rows: TaskRows; clock: Clock }, { maxReturns }: { maxReturns: number }) {
    this.#deps = deps
    this.#maxReturns = maxReturns
  }

  wake(): void {
    for (const ring of this.#waiting) ring.abort()
  }

  /** Puts back what the last process left behind, and ends what was put back too often. */
  async recover(): Promise<number> {
    const { rows } = this.#deps
    let put = 0
    for (;;) {
      const left = await rows.page('', ['PROCESSING'], 200)
      for (const row of left) {
        const { returns } = row
        await rows.countReturn(row.id)
        if (returns < this.#maxReturns) await rows.change(row.id, { status: 'PENDING', progress: null })
        else await rows.change(row.id, { status: 'FAILED', error_message: TEXT.gaveUp(returns) })
      }
      put += left.length
      if (left.length < 200) return put
    }
  }

  async claim(slot: number, signal: AbortSignal): Promise<Claim | undefined> {
    const ring = new AbortController()
    this.#waiting.add(ring)
    try {
      const claim = await this.#take(slot)
      if (claim) return claim
      const unfollow = follow(signal, ring)
      await this.#deps.clock.sleep(LOOK_AGAIN_MS, ring.signal).catch(() => undefined)
      unfollow()
      return undefined
    } finally {
      this.#waiting.delete(ring)
    }
  }

  async touch(claim: Claim, report: TaskReport | null): Promise<boolean> {
    return this.#change(claim, report === null ? {} : { progress: writeReport(report) })
  }

  async finish(claim: Claim, end: TaskEnd): Promise<boolean> {
    return end.status === 'COMPLETED'
      ? this.#change(claim, { status: 'COMPLETED', result_path: end.resultPath })
      : this.#change(claim, { status: 'FAILED', error_message: end.errorMessage })
  }

  async release(claim: Claim): Promise<boolean> {
    return this.#change(claim, { status: 'PENDING', progress: null })
  }

  async heartbeat(): Promise<void> {}

  async close(): Promise<void> {}

  async #take(slot: number): Promise<Claim | undefined> {
    const { rows } = this.#deps
    for (;;) {
      const claimed = await rows.ledger.transaction(async (tx) => {
        const next = await tx.db
          .selectFrom('processing_tasks')
          .select(['id', 'original_file_path', 'fence', 'trace'])
          // A literal, so that SQLite finds the index over what is queued.
          .where(sql<boolean>`status = 'PENDING'`)
          .where('expires_at', '>', now)
          .orderBy('queued_at')
          .orderBy('id')
          .limit(1)
          .executeTakeFirst()
        if (!next) return 'none'
        // Another slot was faster: look for the next one.
        if (!(await this.#raiseFence(tx, next))) return 'taken'
        await rows.changeIn(tx, next.id, { status: 'PROCESSING' }, { statuses: ['PENDING'] })
        return next
      })
      if (claimed === 'none') return undefined
      if (claimed === 'taken') continue
      const { id: taskId, original_file_path: originalFilePath, fence, trace } = claimed
      const claim: LedgerClaim = { taskId, originalFilePath, slot, fence: fence + 1, ...(trace && { trace }) }
      return claim
    }
  }

  async #raiseFence(tx: Tx, { id, fence }: { id: string; fence: number }): Promise<boolean> {
    const result = await tx.db
      .updateTable('processing_tasks')
      .set({ fence: sql<number>`fence + 1` })
      .where('id', '=', id)
      .where('fence', '=', fence)
      .where('status', '=', 'PENDING')
      .executeTakeFirst()
    return result.numUpdatedRows > 0n
  }

  async #change(claim: Claim, change: Parameters<TaskRows['changeIn']>[2]): Promise<boolean> {
    const { rows } = this.#deps
    const guard = { statuses: ['PROCESSING' as const], fence: (claim as LedgerClaim).fence }
    return rows.ledger.transaction((tx) => rows.changeIn(tx, claim.taskId, change, guard))
  }
}
