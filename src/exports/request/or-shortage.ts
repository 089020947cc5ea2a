import { ERRORS, isAppError } from '../../kernel/index.ts'
import type { Quotas } from '../../tenancy/index.ts'

/** The error of an export that was too large: a quota of the day, or the limit of every export. */
export async function orShortage(
  quotas: Quotas,
  projectId: string,
  {
    own,
    read,
    caught,
  }: {
    /** What an export may read at most, whatever the quotas. */
    own: { maxRows: number; maxBytes: number }
    /** What had been read before it was too much. */
    read: { fetched: number; bytes: number }
    caught: unknown
  },
): Promise<unknown> {
  if (!isAppError(caught, ERRORS.SOURCE_TOO_LARGE)) return caught
  const { rows, bytes } = caught.details as { rows?: number; bytes?: number }
  const needed =
    rows === undefined
      ? { what: 'bytes' as const, amount: Math.max(read.bytes, bytes ?? 0) }
      : { what: 'rows' as const, amount: read.fetched + rows }
  return (await quotas.shortage(projectId, own, needed)) ?? caught
}
