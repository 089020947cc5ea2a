/** How long the server waits for one session before it ends what the session does, in milliseconds. */
export interface SessionLimits {
  /** A client that says nothing inside a transaction: it was stopped or cut off, and others wait for its rows. */
  idleInTransactionMs: number
  /** Longer than the limit above, so that a transaction that waits for a stopped client gets its turn. */
  lockMs: number
  statementMs: number
  /**
   * How much longer than a statement may take this side waits for its answer. By then a server that is there has ended
   * the statement by itself; one that hangs never answers.
   */
  answerMs: number
}

export const SESSION_LIMITS: SessionLimits = {
  idleInTransactionMs: 3_000,
  lockMs: 4_000,
  statementMs: 30_000,
  answerMs: 5_000,
}

/** How long a connection may be silent after a message; null: for ever. What the address says goes before the limits. */
export function longestSilence(url: string, { statementMs, answerMs }: SessionLimits): number | null {
  const named = new URL(url).searchParams.get('statement_timeout')
  const most = named === null ? statementMs : Number(named)
  return most > 0 ? most + answerMs : null
}

/** For work. */
export const WORK_CONNECTIONS = 10
/** One for new events and two for readers that catch up; none is open while nobody reads. */
export const EVENT_CONNECTIONS = 3
/** The most that one instance opens. */
export const CONNECTIONS_PER_INSTANCE = WORK_CONNECTIONS + EVENT_CONNECTIONS

/** A peer that vanished without a word is noticed after about 25 s, on both sides. */
const KEEP_ALIVE = { idleSeconds: 10, intervalSeconds: 5, count: 3 }

/** Sent with the first message of a connection, so that they cost no round trip; what the address says goes before them. */
export function sessionSettings(limits: SessionLimits) {
  const { idleSeconds, intervalSeconds, count } = KEEP_ALIVE
  return {
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    lock_timeout: limits.lockMs,
    statement_timeout: limits.statementMs,
    options: `-c tcp_keepalives_idle=${idleSeconds} -c tcp_keepalives_interval=${intervalSeconds} -c tcp_keepalives_count=${count}`,
    keepAlive: true,
    keepAliveInitialDelayMillis: idleSeconds * 1_000,
  }
}
