import type { Static } from 'typebox'
import type { Ledger, Tx } from '../ledger/index.ts'
import type { AccountParams } from './feed/item-filter.ts'
import { type Counts, progressAfterDelete } from './run-progress.ts'
import type { RunKind } from './run-schemas.ts'

/** What a run was asked to do: the account as it was then. Later changes to the account do not touch it. */
export interface RunOrder {
  run_id: string
  handle: string
  kind: Static<typeof RunKind>
  url: string
  params: AccountParams
  /** Where it begins; null: at the beginning of the feed. */
  cursor: string | null
}

/** Where a run goes on after a crash: the first page that is not done, with the counts of the pages before it. */
export interface Checkpoint {
  cursor: string | null
  page: number
  counts: Counts
  /** True once the whole feed is done: the beginning and the end are both at no cursor. */
  finished: boolean
}

export type Cleanup = 'keep' | 'delete'

export interface UncleanRun {
  id: string
  handle: string
  cleanup: Cleanup
  /** Where the run began. */
  cursor: string | null
  /** False while its worker has not stopped yet. */
  ended: boolean
}

/** What the ledger knows of runs besides their jobs. */
export class RunStore {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  async insert(tx: Tx, run: { id: string; jobId: string; handle: string }): Promise<void> {
    await tx.db
      .insertInto('runs')
      .values({ id: run.id, job_id: run.jobId, handle: run.handle, checkpoint: null, cleanup: null })
      .execute()
    await tx.db.updateTable('accounts').set({ run_id: run.id }).where('handle', '=', run.handle).execute()
  }

  async jobOf(tx: Tx, id: string): Promise<string | undefined> {
    const row = await tx.db.selectFrom('runs').select('job_id').where('id', '=', id).executeTakeFirst()
    return row?.job_id
  }

  /** Whether lines for the user were written since then; only the worker that has the run writes any. */
  async hasLogged(id: string, since: number): Promise<boolean> {
    const line = await this.#ledger.db
      .selectFrom('events')
      .select('type')
      .where('task_id', '=', id)
      .where('type', '=', 'run_log')
      .where('at', '>=', since)
      .executeTakeFirst()
    return line !== undefined
  }

  async checkpoint(id: string): Promise<Checkpoint | undefined> {
    const row = await this.#ledger.db
      .selectFrom('runs')
      .select('checkpoint')
      .where('id', '=', id)
      .executeTakeFirst()
    return row?.checkpoint ? (JSON.parse(row.checkpoint) as Checkpoint) : undefined
  }

  /** Also moves the account's cursor: the next run continues from here. */
  async saveCheckpoint(tx: Tx, { run_id, handle }: RunOrder, checkpoint: Checkpoint): Promise<void> {
    await tx.db
      .updateTable('runs')
      .set({ checkpoint: JSON.stringify(checkpoint) })
      .where('id', '=', run_id)
      .execute()
    await this.moveCursor(tx, { run_id, handle }, checkpoint.cursor)
  }

  async moveCursor(tx: Tx, run: Pick<RunOrder, 'run_id' | 'handle'>, cursor: string | null): Promise<void> {
    await tx.db
      .updateTable('accounts')
      .set({ cursor })
      .where('handle', '=', run.handle)
      .where('run_id', '=', run.run_id)
      .execute()
  }

  async requestCleanup(tx: Tx, id: string, cleanup: Cleanup): Promise<void> {
    await tx.db.updateTable('runs').set({ cleanup }).where('id', '=', id).execute()
  }

  /** Cancelled runs that are to be cleaned up; `of` one account or run, or all. */
  async unclean(of: { handle?: string; id?: string } = {}): Promise<UncleanRun[]> {
    let query = this.#ledger.db
      .selectFrom('runs')
      .innerJoin('jobs', 'jobs.id', 'runs.job_id')
      .select(['runs.id', 'runs.handle', 'runs.cleanup', 'jobs.payload', 'jobs.state'])
      .where('runs.cleanup', 'is not', null)
    if (of.id !== undefined) query = query.where('runs.id', '=', of.id)
    if (of.handle !== undefined) query = query.where('runs.handle', '=', of.handle)
    return (await query.execute()).map(({ id, handle, cleanup, payload, state }) => ({
      id,
      handle,
      cleanup: cleanup as Cleanup,
      cursor: (JSON.parse(payload) as RunOrder).cursor,
      ended: state === 'cancelled',
    }))
  }

  async cleaned({ id, handle, cleanup, cursor }: UncleanRun): Promise<void> {
    await this.#ledger.transaction(async (tx) => {
      await tx.db
        .updateTable('runs')
        .set({ cleanup: null })
        .where('id', '=', id)
        .where('cleanup', '=', cleanup)
        .execute()
      if (cleanup === 'keep') return
      // The leader may clean up long after the job has ended.
      await this.moveCursor(tx, { run_id: id, handle }, cursor)
      const progress = progressAfterDelete(cursor)
      await tx.db
        .updateTable('jobs')
        .set({
          progress: JSON.stringify(progress),
          event_type: 'run_progress',
          event_data: JSON.stringify({ run_id: id, handle, progress }),
        })
        .where('id', '=', (eb) => eb.selectFrom('runs').select('job_id').where('id', '=', id))
        .execute()
    })
  }

  /** Keeps how an account's last run ended beyond the life of its job. */
  async archive(run: Pick<RunOrder, 'run_id' | 'handle'>, ended: unknown): Promise<void> {
    await this.#ledger.db
      .updateTable('accounts')
      .set({ last_run: JSON.stringify(ended) })
      .where('handle', '=', run.handle)
      .where('run_id', '=', run.run_id)
      .execute()
  }
}
