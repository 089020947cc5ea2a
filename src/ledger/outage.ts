import { AppError, ERRORS, messageOf } from '../kernel/index.ts'

/**
 * SQLSTATE classes and codes that say nothing about the statement: the server is away, starting, stopping or read-only
 * (08, 57P0x, 25006), is out of something or cannot use its disk (53, 58), or a limit of the session was reached (idle in
 * a transaction 25P03, waiting for a lock 55P03, a statement 57014, a transaction 25P04).
 */
const OUTAGE_STATES = /^(08...|57P0[1-5]|53...|58...|25006|25P0[34]|55P03|57014)$/
const OUTAGE_ERRNOS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOENT',
])
/** What the connection of a server that says nothing any more is ended with. */
export const NO_ANSWER = 'WHARF_NO_ANSWER'
const DEEPEST_CAUSE = 8
const OUTAGE_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/

function toLedgerError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = (error as { code?: string }).code ?? ''
  const inner = error instanceof AggregateError ? error.errors : []
  const outage =
    OUTAGE_STATES.test(code) ||
    OUTAGE_ERRNOS.has(code) ||
    code === NO_ANSWER ||
    OUTAGE_MESSAGES.test(error.message) ||
    inner.some((part) => OUTAGE_ERRNOS.has(part?.code))
  if (!outage) return error
  return new AppError(ERRORS.LEDGER_UNAVAILABLE, 'the ledger cannot be reached, try again shortly', {
    cause: error,
    retryAfter: 2,
  })
}

const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14

/** The same for the embedded ledger, whose outages are those of its disk. */
export function toSqliteLedgerError(error: unknown): unknown {
  const { errcode } = error as { errcode?: unknown }
  if (typeof errcode !== 'number') return error
  const primary = errcode & 0xff
  const options = { cause: error, retryAfter: 2 }
  if (primary === SQLITE_FULL)
    return new AppError(ERRORS.STORAGE_FULL, 'the disk of the ledger is full', options)
  if ([SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY].includes(primary))
    return new AppError(
      ERRORS.LEDGER_UNAVAILABLE,
      `the ledger cannot use its disk: ${messageOf(error)}`,
      options,
    )
  return error
}

/** Outages, each with the session that was sent a statement and did not answer. */
const unanswered = new WeakMap<Error, number>()

/**
 * Says "the ledger is away" in one way, whatever the driver below says about sockets and SQLSTATEs. `session`: the
 * process of the server that the work was sent to.
 */
export async function guarded<T>(work: Promise<T>, session?: number | null): Promise<T> {
  try {
    return await work
  } catch (error) {
    const told = toLedgerError(error)
    // What the server itself says has a severity.
    const silent = told !== error && !(error as { severity?: string }).severity
    if (silent && told instanceof Error && session) unanswered.set(told, session)
    throw told
  }
}

/** The session that did not say what became of a statement, wherever in the causes of the error. */
export function unansweredBy(error: unknown): number | undefined {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < DEEPEST_CAUSE; depth++) {
    const session = unanswered.get(cause)
    if (session !== undefined) return session
    cause = cause.cause
  }
  return undefined
}
