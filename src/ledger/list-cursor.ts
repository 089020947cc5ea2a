import { AppError, ERRORS } from '../kernel/index.ts'

/** The last row of a page, by age and id: rows that come meanwhile shift nothing. */
export interface ListCursor {
  at: number
  id: string
}

export function writeCursor({ at, id }: ListCursor): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url')
}

export function readCursor(cursor: string): ListCursor {
  try {
    const [at, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [unknown, unknown]
    if (typeof at === 'number' && typeof id === 'string') return { at, id }
  } catch {}
  throw new AppError(ERRORS.REQUEST_INVALID, 'cursor is not one that a list has answered with')
}
