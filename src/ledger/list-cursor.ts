import { AppError, ERRORS } from '../kernel/index.ts'

/** The last row of a page, by age and id: rows that come meanwhile shift nothing. */
export interface ListCursor {
  at: number
  id: string
}

export function writeCursor({ at, id }: ListCursor): string {
  return packCursor([at, id])
}

export function readCursor(cursor: string): ListCursor {
  const [at, id] = unpackCursor(cursor)
  if (typeof at !== 'number' || typeof id !== 'string') throw badCursor()
  return { at, id }
}

/** Of a list in the order of its ids alone. */
export const writeIdCursor = (id: string) => writeCursor({ at: 0, id })
export const readIdCursor = (cursor: string | undefined) =>
  cursor === undefined ? undefined : readCursor(cursor).id

export type CursorPart = string | number

export function packCursor(parts: readonly CursorPart[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** Only what `packCursor` gives is taken: a cursor that was cut off, or made up, is refused and not read as another place. */
export function unpackCursor(cursor: string): CursorPart[] {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as CursorPart[]
    if (Array.isArray(parts) && parts.every(isPart) && packCursor(parts) === cursor) return parts
  } catch {}
  throw badCursor()
}

export function badCursor(): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, 'cursor is not one that this list has answered with')
}

/** PostgreSQL takes neither a NUL in a text nor half a character. */
function isPart(value: unknown): value is CursorPart {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  return Number.isSafeInteger(value)
}
