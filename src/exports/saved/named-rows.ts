import { AppError, ERRORS } from '../../kernel/index.ts'
import { readIdCursor, writeIdCursor } from '../../ledger/index.ts'

/** Templates, and saved exports, that one project may have. */
const MOST_NAMES = 1_000

/** A page of what has a name, in the order of names; `read` takes the last name before it and how many to read. */
export async function namedPage<T extends { name: string }>(
  { limit, cursor }: { limit: number; cursor?: string },
  read: (after: string, limit: number) => Promise<T[]>,
): Promise<{ items: T[]; next_cursor: string | null }> {
  const rows = await read(readIdCursor(cursor) ?? '', limit + 1)
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next_cursor: rows.length > limit && last ? writeIdCursor(last.name) : null }
}

const BLANK = /^[\s\p{Default_Ignorable_Code_Point}]*$/u
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]/u

/** A name is shown in lists, logs and mails: it must be there to see, in one line. Older ones can still be read and deleted. */
export function requireShown(name: string): void {
  const wrong = BLANK.test(name)
    ? 'must not be blank'
    : BREAKS.test(name)
      ? 'must not have line breaks or control characters'
      : undefined
  if (wrong !== undefined)
    throw new AppError(ERRORS.REQUEST_INVALID, `path/name ${wrong}`, {
      details: { errors: [{ path: 'path/name', message: wrong }] },
    })
}

/** `names` are those that the project has; no more of them are read than there may be. */
export async function requireRoom(names: {
  limit(most: number): { execute(): Promise<unknown[]> }
}): Promise<void> {
  const rows = await names.limit(MOST_NAMES).execute()
  if (rows.length < MOST_NAMES) return
  throw new AppError(
    ERRORS.TOO_MANY_NAMES,
    `this project has ${MOST_NAMES} of them already; delete what is not used any more`,
  )
}
