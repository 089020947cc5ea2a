import { ERRORS, isAppError, messageOf } from './errors.ts'
import type { Log } from './log.ts'

let total = 0
let log: Pick<Log, 'error' | 'warn'> | undefined

/** Errors that nobody foresaw since the process started: each one is a fault of Wharf, never a client's. */
export function unforeseenErrors(): number {
  return total
}

/** Where they are logged; until it is set, on standard error. */
export function tellUnforeseenTo(destination: Pick<Log, 'error' | 'warn'>): void {
  log = destination
}

/**
 * For what is caught where nobody can answer for it any more. Errors of the table (the ledger is away) are foreseen, and
 * only logged; everything else is counted and logged with its stack.
 */
export function unforeseen(what: string, error: unknown): void {
  const message = `${what}: ${messageOf(error)}`
  if (isAppError(error) && error.kind !== ERRORS.INTERNAL) {
    log?.warn({ err: error }, message)
    return
  }
  total++
  const err = error instanceof Error ? error : new Error(message)
  if (log) log.error({ err, unforeseen: total }, message)
  else console.error(message, err)
}
