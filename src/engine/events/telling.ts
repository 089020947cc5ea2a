import type { Change, DefinedKind, Described } from '../kind.ts'

/**
 * What a change of a row in `jobs` or `tasks` has to tell. Whoever sets these columns has appended the event: a trigger
 * writes it into the log with the very statement that makes the change, for the task or for all tasks of the job, so
 * no change can be made and not told, and telling costs no statement of its own.
 */
export interface Telling {
  event_type: string
  event_data: string
}

export function telling(kind: DefinedKind, job: Described, change: Change): Telling {
  const { type, data } = kind.describe(change, job)
  return { event_type: type, event_data: JSON.stringify(data) }
}
