import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Queries after which the connection may be silent for longer. */
const allowances = new WeakMap<CompiledQuery, number>()

/** For the rest of a transaction on PostgreSQL, in place of the limits of its session, on both sides of the connection. */
export async function allowTime(db: Kysely<Schema>, ms: number): Promise<void> {
  const query = sql`select set_config(name, ${String(ms)}, true)
    from unnest(array['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) as name`.compile(
    db,
  )
  allowances.set(query, ms)
  await db.executeQuery(query)
}

export function allowedBy(query: CompiledQuery): number | undefined {
  return allowances.get(query)
}
