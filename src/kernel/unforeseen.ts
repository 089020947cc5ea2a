import { ERRORS, isAppError, messageOf } from './errors.ts'
import type { Log } from './log.ts'

let total = 0
let log: Pick<Log, 'error' | 'warn'> | undefined

/** Errors that nobody foresaw since the process started: each one is a fault of Wharf, never a client's. */
export function unforeseenErrors(): number {
  return total
}

/** Where they are told; until then on standard error. */
export function tellUnforeseenTo(destination: Pick<Log, 'error' | 'warn'>): void {
  log = destination
}

/**
 * For what is caught where nobody can answer for it any more. Errors of the table (the ledger is away) are foreseen, and
 * only told; everything else is counted and told with its stack.
 */
export function unforeseen(what: string, error: unknown): void {
  const told = `${what}: ${messageOf(error)}`
  if (isAppError(error) && error.kind !== ERRORS.INTERNAL) {
    log?.warn({ err: error }, told)
    return
  }
  total++
  const err = error instanceof Error ? error : new Error(told)
  if (log) log.error({ err, unforeseen: total }, told)
  else console.error(told, err)
}
