import { sql } from 'kysely'
import type { Ledger } from '../../ledger/index.ts'
import { WAITING_COLUMNS, type WaitingFor, waitingFor } from '../waiting-for.ts'

/** A piece of work that somebody should look at. */
interface Noticed {
  /** Where its page is: the id of a task, a delivery, or the handle of an account. */
  id: string
  name: string
  project_id: string | null
  /** When it failed, or when it was asked for. */
  at: string
  /** Of a delivery with targets that failed: how many, and what most of them failed with. */
  targets?: { total: number; failed: number; error_code: number }
}

interface NoticedFailure extends Noticed {
  error: { code: string; message: string }
}

interface NoticedWait extends Noticed {
  /** null: for its turn. */
  waiting_for: WaitingFor | null
}

type JobSubject = Omit<Noticed, 'at'>

/** What jobs are about, as people know them. A job that is missing in the answer is not shown. */
export type SubjectsOf = (jobIds: readonly string[]) => Promise<Map<string, JobSubject>>

export interface Attention {
  failures: NoticedFailure[]
  waiting: NoticedWait[]
}

const MOST = 5

/** The newest failures of a kind of job, and those of its jobs that wait longest. */
export async function jobsToNotice({ db }: Ledger, kind: string, subjectsOf: SubjectsOf): Promise<Attention> {
  const failed = await db
    .selectFrom('jobs')
    .select(['id', 'finished_at', 'error_code', 'error_message'])
    .where('kind', '=', kind)
    .where(sql<boolean>`state = 'failed'`)
    .orderBy('finished_at', 'desc')
    .limit(MOST)
    .execute()
  const waiting = await sql
    .raw<{ id: string; created_at: number } & Parameters<typeof waitingFor>[0]>(waitingJobs(kind))
    .execute(db)
    .then(({ rows }) => rows)
  const ids = [...failed, ...waiting].map(({ id }) => id)
  const subjects = ids.length === 0 ? new Map<string, JobSubject>() : await subjectsOf(ids)
  return {
    failures: failed.flatMap(({ id, finished_at, error_code, error_message }) => {
      const subject = subjects.get(id)
      const error = { code: error_code ?? '', message: error_message ?? '' }
      return subject ? [{ ...subject, at: iso(finished_at ?? 0), error }] : []
    }),
    waiting: waiting.flatMap((row) => {
      const subject = subjects.get(row.id)
      return subject ? [{ ...subject, at: iso(row.created_at), waiting_for: waitingFor(row) }] : []
    }),
  }
}

/**
 * Literals, and the words of the partial indexes: only so does each part read unfinished jobs alone. A job that pauses before it
 * is tried again is due later and waits already; one that was never tried is only planned for then.
 */
function waitingJobs(kind: string): string {
  if (!/^[a-z-]+$/.test(kind)) throw new Error(`'${kind}' is no name of a kind`)
  const columns = `id, state, created_at, ${WAITING_COLUMNS.join(', ')}`
  return `select * from (
    select ${columns} from jobs where state = 'pending' and kind = '${kind}'
      and (due_at < wharf_now() or error_code is not null)
    union all
    select ${columns} from jobs where state = 'waiting' and lane is not null
      and state in ('waiting', 'pending', 'running') and kind = '${kind}'
  ) as open order by created_at, id limit ${MOST}`
}

function iso(ms: number): string {
  return new Date(Number(ms)).toISOString()
}
