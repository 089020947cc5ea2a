import { type RawBuilder, sql } from 'kysely'
import { isOneOf, jsonRows, type Ledger, now, type Tx } from '../../ledger/index.ts'
import type { Change, DefinedKind, Described } from '../kind.ts'
import type { Event } from './event-log.ts'

export type NewEvent = Omit<Event, 'seq' | 'at'>

/** A transaction, or a statement that commits by itself (see `Emitter.alone`). */
export type Committing = Pick<Tx, 'afterCommit'>

/**
 * Columns of `jobs` and `tasks`. The statement that sets them also appends the event, by a trigger: for the task, or for
 * all tasks of the job. So no change of a job is without its event, and the event costs no statement.
 */
export interface EventColumns {
  event_type: string
  event_data: string
}

/** The columns of events that a query makes. */
export type EventQuery = Record<
  'type' | 'kind' | 'project_id' | 'task_id' | 'job_id' | 'data',
  RawBuilder<unknown>
>

const TASK_EVENT_COLUMNS = { id: 'text', event_type: 'text', event_data: 'text' } as const

/**
 * The only writer of the event log. An event is appended in the transaction of the change that it describes; readers are
 * notified after the commit, once per transaction. The caller has nothing to remember.
 */
export class Emitter {
  readonly #dialect: Ledger['dialect']
  readonly #notify: () => void
  readonly #announced = new WeakSet<Committing>()

  /** `notify` is called after each commit that appended events. */
  constructor({ dialect }: Pick<Ledger, 'dialect'>, notify: () => void) {
    this.#dialect = dialect
    this.#notify = notify
  }

  /** Appends events in the order given, with one statement. */
  async emit(tx: Tx, ...events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return
    this.#announce(tx)
    await tx.db
      .insertInto('events')
      .values(
        events.map((event) => ({
          type: event.type,
          kind: event.kind,
          project_id: event.projectId,
          task_id: event.taskId,
          job_id: event.jobId,
          data: JSON.stringify(event.data),
          at: now,
        })),
      )
      .execute()
  }

  /** The statement that appends one event per row of `from`; to be executed in `tx`, alone or as a part of another one. */
  statement(tx: Committing, event: EventQuery, from: RawBuilder<unknown>): RawBuilder<unknown> {
    this.#announce(tx)
    return sql`insert into events (type, kind, project_id, task_id, job_id, data, at)
      select ${event.type}, ${event.kind}, ${event.project_id}, ${event.task_id}, ${event.job_id}, ${event.data}, wharf_now()
      ${from}`
  }

  /** For a change of a job or task: what its statement has to set. */
  columns(tx: Committing, kind: DefinedKind, job: Described, change: Change): EventColumns {
    this.#announce(tx)
    const { type, data } = kind.describe(change, job)
    return { event_type: type, event_data: JSON.stringify(data) }
  }

  /** The statement that appends an event for all tasks of these jobs, for a change whose rows are written already. */
  forTasks(tx: Committing, jobs: readonly (EventColumns & { id: string })[]): RawBuilder<unknown> {
    const rows = jsonRows(this.#dialect, TASK_EVENT_COLUMNS, jobs)
    const ids = jobs.map(({ id }) => id)
    return this.statement(
      tx,
      {
        type: sql`r.event_type`,
        kind: sql`tasks.kind`,
        project_id: sql`tasks.project_id`,
        task_id: sql`tasks.id`,
        job_id: sql`tasks.job_id`,
        data: sql`r.event_data`,
      },
      sql`from ${rows} join tasks on tasks.job_id = r.id
        where ${isOneOf(this.#dialect, 'tasks.job_id', ids)} and tasks.cancelled_at is null`,
    )
  }

  /** For one statement that appends events by a trigger and commits by itself. */
  async alone<T>(write: (statement: Committing) => Promise<T>): Promise<T> {
    const actions: (() => void)[] = [this.#notify]
    const statement: Committing = { afterCommit: (action) => actions.push(action) }
    this.#announced.add(statement)
    const result = await write(statement)
    for (const action of actions) action()
    return result
  }

  #announce(tx: Committing): void {
    if (this.#announced.has(tx)) return
    this.#announced.add(tx)
    tx.afterCommit(this.#notify)
  }
}
