import { type CompiledQuery, sql } from 'kysely'
import type { Ledger, Tx } from '../../ledger/index.ts'
import type { NewTask } from '../task.ts'

/** One parameter, a JSON list, read as a table: the statement is the same text for any number of tasks. */
const ITEMS = {
  postgres: sql`json_to_recordset(${''}::json)
    as item (id text, project_id text, file_name text, size bigint, path text, trace text)`,
  sqlite: sql`(select value ->> 'id' as id, value ->> 'project_id' as project_id, value ->> 'file_name' as file_name,
    value ->> 'size' as size, value ->> 'path' as path, value ->> 'trace' as trace
    from json_each(${''})) as item`,
}

/**
 * Inserts many tasks with one statement, which also emits their events (by a trigger). It is compiled once, and neither database
 * reads it anew for each number of rows. Rows go in by id, so that two instances with the same ones wait for each other
 * in the same order.
 */
export class InsertTasks {
  readonly #compiled: CompiledQuery

  constructor({ db, dialect }: Ledger, { ttlMs }: { ttlMs: number }) {
    this.#compiled = sql`insert into processing_tasks
      (id, project_id, file_name, size, original_file_path, status,
        queued_at, seen_at, expires_at, created_at, updated_at, seen, trace)
      select id, project_id, file_name, size, path, 'PENDING',
        wharf_now(), wharf_now(), wharf_now() + ${sql.lit(ttlMs)}, wharf_now(), wharf_now(), cast(wharf_now() / 1000 as text), trace
      from ${ITEMS[dialect]} where true order by id
      on conflict do nothing returning id, created_at`.compile(db)
  }

  /** Answers the ids that were free, each with the ledger's time. */
  async run({ db }: Pick<Tx, 'db'> | Ledger, tasks: readonly NewTask[]): Promise<Map<string, number>> {
    const items = tasks.map((task) => ({
      id: task.id,
      project_id: task.projectId,
      file_name: task.fileName,
      size: task.size,
      path: task.originalFilePath,
      trace: task.trace ?? null,
    }))
    const query = { ...this.#compiled, parameters: [JSON.stringify(items)] }
    const { rows } = await db.executeQuery<{ id: string; created_at: number }>(query)
    return new Map(rows.map(({ id, created_at }) => [id, Number(created_at)]))
  }
}
