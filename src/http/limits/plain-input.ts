import { AppError, ERRORS } from '../../kernel/index.ts'

/** Deeper than any template; beyond this, code that walks a value level by level could run out of stack. */
const MAX_DEPTH = 200

/**
 * Refuses what no field of any request may hold: a number that is not finite (`1e999`), a NUL character, which neither
 * PostgreSQL nor a file name takes, half of a surrogate pair, which no UTF-8 has, and nesting without end.
 */
export function requirePlain(value: unknown, where: string): void {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw refused(where, `is nested more than ${MAX_DEPTH} deep`)
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item === 'number' && !Number.isFinite(item))
        throw refused(where, 'has a number that is not finite')
      if (typeof item === 'string' && item.includes('\u0000')) throw refused(where, 'has a NUL character')
      if (typeof item === 'string' && !item.isWellFormed()) throw refused(where, 'has half a character')
      if (Array.isArray(item)) for (const one of item) next.push(one)
      else if (isPlainObject(item)) for (const [key, one] of Object.entries(item)) next.push(key, one)
    }
    level = next
  }
}

/** Not a stream or a buffer, which are files. A router's parameters have an empty prototype of their own. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function refused(where: string, message: string): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, `${where} ${message}`, {
    details: { errors: [{ path: where, message }] },
  })
}
