import { type Kysely, sql } from 'kysely'
import type { Static } from 'typebox'
import { AppError, ERRORS } from '../kernel/index.ts'
import type { Schema } from '../ledger/index.ts'
import type { RunLogPage } from './run-schemas.ts'

type RunLog = Static<typeof RunLogPage>

interface LogData {
  level?: 'info' | 'warn'
  message?: string
  state?: RunLog['items'][number]['state']
  error?: { code: string; message: string } | null
}

/** The log of a run, newest first, as far back as events are kept. A cursor is the `seq` of the last line. */
export async function readRunLog(
  db: Kysely<Schema>,
  runId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<RunLog> {
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
    throw new AppError(ERRORS.REQUEST_INVALID, 'cursor is not one that a list has answered with')
  const rows = await db
    .selectFrom('events')
    .select(['seq', 'data', 'at'])
    .where('task_id', '=', runId)
    // In the words of the index, which holds nothing else.
    .where(sql<boolean>`type in ('run_log', 'run_state_changed')`)
    .where('seq', '<', cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor))
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit).map(({ seq, data, at }) => {
    const { level = 'info', message = '', state = null, error } = JSON.parse(data) as LogData
    return {
      seq,
      at: new Date(at).toISOString(),
      level: error ? ('error' as const) : level,
      message: error ? `${error.message} (${error.code})` : message,
      state,
    }
  })
  return { items, next_cursor: rows.length > limit ? String(items.at(-1)?.seq ?? '') : null }
}
