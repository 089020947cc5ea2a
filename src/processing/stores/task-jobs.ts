import { sql } from 'kysely'
import type { Engine } from '../../jobs/index.ts'
import { AppError } from '../../kernel/index.ts'
import type { Tx } from '../../ledger/index.ts'
import { type NewTask, TASK_KIND } from '../task.ts'
import { type TaskRow, type TaskRows, UNFINISHED } from './task-rows.ts'

const PAGE = 500

type Enqueuer = Pick<Engine, 'enqueueAll'>

/** Makes the jobs of tasks, each with the id of its task; one with a `queued_at` keeps its place. */
export async function enqueueTasks(
  engine: Enqueuer,
  tx: Tx,
  tasks: readonly (Pick<NewTask, 'id' | 'trace'> & Partial<Pick<TaskRow, 'queued_at'>>)[],
): Promise<void> {
  const jobs = tasks.map(({ id, trace, queued_at: createdAt }) => ({
    ...{ id, kind: TASK_KIND.name, payload: null },
    ...(trace && { trace }),
    ...(createdAt !== undefined && { createdAt }),
  }))
  for (const made of await engine.enqueueAll(tx, jobs)) if (made instanceof AppError) throw made
}

/**
 * Puts back what the last process was working on when it died, and makes the jobs of tasks that have none: an earlier
 * version made them, or they were in Redis. Call it before the engine starts.
 */
export async function recoverTasks(engine: Enqueuer, rows: TaskRows): Promise<void> {
  for (let left = PAGE; left === PAGE; ) {
    const running = await rows.page('', ['PROCESSING'], PAGE)
    for (const { id } of running) await rows.change(id, { status: 'PENDING' })
    left = running.length
  }
  for (let after: string | undefined = ''; after !== undefined; ) {
    const waiting = await rows.withoutJob(after, PAGE)
    if (waiting.length > 0) await rows.ledger.transaction((tx) => enqueueTasks(engine, tx, waiting))
    after = waiting.at(-1)?.id
  }
}

/** For tasks that were jobs until this Wharf got a Redis: its lists hold them now. */
export async function deleteJobs({ ledger }: TaskRows): Promise<void> {
  await sql`delete from jobs where kind = ${TASK_KIND.name}
    and id in (select id from processing_tasks where ${UNFINISHED})`.execute(ledger.db)
}
