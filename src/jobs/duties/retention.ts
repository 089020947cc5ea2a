import type { Duty, Log } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { EventLog } from '../events/index.ts'
import { toJob } from '../job.ts'
import type { KindRegistry } from '../kind.ts'
import { EndedSpans, NOTED_KINDS } from '../overview/index.ts'

const BATCH = 200
const EVENTS_BATCH = 5_000

export interface RetentionOptions {
  eventsMs: number
  idempotencyMs?: number
  instancesMs?: number
  endedWorkMs?: number
}

/**
 * Deletes what is past its time: ended jobs with their tasks, old events, idempotency records, dead instances, noted ends,
 * which it adds up before.
 */
export class RetentionDuty implements Duty {
  readonly name = 'retention'
  readonly #deps: { ledger: Ledger; kinds: KindRegistry; events: EventLog; log: Log }
  readonly #options: Required<RetentionOptions>
  readonly #spans: EndedSpans

  constructor(
    deps: { ledger: Ledger; kinds: KindRegistry; events: EventLog; log: Log },
    {
      eventsMs,
      idempotencyMs = 24 * 3_600_000,
      instancesMs = 3_600_000,
      endedWorkMs = 3_600_000,
    }: RetentionOptions,
  ) {
    this.#deps = deps
    this.#spans = new EndedSpans(deps.ledger)
    this.#options = { eventsMs, idempotencyMs, instancesMs, endedWorkMs }
  }

  async runOnce(signal: AbortSignal): Promise<{ jobs: number; events: number }> {
    const { ledger, events } = this.#deps
    const at = await ledger.now()
    const jobs = await this.#deleteJobs(at, signal)
    let forgotten = 0
    for (let batch = EVENTS_BATCH; batch === EVENTS_BATCH && !signal.aborted; forgotten += batch)
      batch = await events.forget(this.#options.eventsMs, EVENTS_BATCH)
    await ledger.maintenance((db) =>
      db
        .deleteFrom('idempotency')
        .where('created_at', '<', at - this.#options.idempotencyMs)
        .execute(),
    )
    await ledger.db
      .deleteFrom('instances')
      .where('seen_at', '<', at - this.#options.instancesMs)
      .execute()
    await this.#spans.addUp(at)
    await ledger.maintenance((db) =>
      db
        .deleteFrom('ended_work')
        // By the index that the overview has: one by age alone would cost each end a write.
        .where('kind', 'in', NOTED_KINDS)
        .where('at', '<', at - this.#options.endedWorkMs)
        .execute(),
    )
    return { jobs, events: forgotten }
  }

  /** Safe to repeat: what belongs to a job is removed before its rows are. */
  async #deleteJobs(at: number, signal: AbortSignal): Promise<number> {
    let deleted = 0
    // Goes on after what could not be removed, which is tried again in the next pass.
    let last = { delete_after: 0, id: '' }
    while (!signal.aborted) {
      const rows = await this.#deps.ledger.db
        .selectFrom('jobs')
        .selectAll()
        .where('delete_after', '>=', last.delete_after)
        .where('delete_after', '<=', at)
        .where((eb) => eb.or([eb('delete_after', '>', last.delete_after), eb('id', '>', last.id)]))
        .orderBy('delete_after')
        .orderBy('id')
        .limit(BATCH)
        .execute()
      const gone: string[] = []
      for (const row of rows) {
        try {
          await this.#deps.kinds.get(row.kind).onDelete?.(toJob(row))
          gone.push(row.id)
        } catch (error) {
          this.#deps.log.warn(
            { jobId: row.id, err: error },
            'what belongs to an old job could not be removed',
          )
        }
      }
      if (gone.length > 0) await this.#deps.ledger.db.deleteFrom('jobs').where('id', 'in', gone).execute()
      deleted += gone.length
      const end = rows.at(-1)
      if (!end || rows.length < BATCH) break
      last = { delete_after: end.delete_after ?? 0, id: end.id }
    }
    return deleted
  }
}
