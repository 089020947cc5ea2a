import { type Kysely, sql } from 'kysely'
import type { Static } from 'typebox'
import { readCursor, type Schema, writeCursor } from '../ledger/index.ts'
import type { RunLogPage } from './run-schemas.ts'

type RunLog = Static<typeof RunLogPage>

interface LogData {
  level?: 'info' | 'warn'
  message?: string
  code?: string
  state?: RunLog['items'][number]['state']
  error?: { code: string; message: string } | null
}

/** The log of a run, newest first, as far back as events are kept. A cursor has the `seq` of the last line. */
export async function readRunLog(
  db: Kysely<Schema>,
  runId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<RunLog> {
  const rows = await db
    .selectFrom('events')
    .select(['seq', 'data', 'at'])
    .where('task_id', '=', runId)
    // In the words of the index, which holds nothing else.
    .where(sql<boolean>`type in ('run_log', 'run_state_changed')`)
    .where('seq', '<', cursor === undefined ? Number.MAX_SAFE_INTEGER : readCursor(cursor).at)
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit).map(({ seq, data, at }) => {
    const { level = 'info', message = '', code = null, state = null, error } = JSON.parse(data) as LogData
    return {
      seq,
      at: new Date(at).toISOString(),
      level: error ? ('error' as const) : level,
      message: error ? error.message : message,
      code: error ? error.code : code,
      state,
    }
  })
  const last = rows.length > limit ? items.at(-1) : undefined
  return { items, next_cursor: last ? writeCursor({ at: last.seq, id: runId }) : null }
}
