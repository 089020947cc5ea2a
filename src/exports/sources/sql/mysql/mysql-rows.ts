import type { Connection, FieldPacket, Query } from 'mysql2'
import { AppError, ERRORS, isAppError, messageOf } from '../../../../kernel/index.ts'
import type { TextPage } from '../../pages/index.ts'
import {
  beginsAsQuery,
  gone,
  notLetIn,
  notReading,
  oneTooMany,
  refused,
  refuseTwins,
  silent,
  unreachable,
  wrongParams,
} from '../sql-error.ts'
import { PageGatherer, SILENCE_MS, type SqlColumn } from '../sql-pages.ts'
import { orClosed, type SqlReach, type SqlRows, type SqlSource } from '../sql-source.ts'
import { connectMysql } from './connect-mysql.ts'
import { type MysqlValue, mysqlColumn } from './mysql-columns.ts'
import { type MysqlTarget, readMysqlUrl } from './mysql-url.ts'

/** Of the whole statement, its rows included: the server's own limit, should this process be gone. */
const STATEMENT_SECONDS = 4 * 3_600
/** Pages that are read ahead of the consumer. */
const MOST_PAGES = 2

const SESSION = [
  'set session transaction isolation level repeatable read, read only',
  "set session time_zone = '+00:00', lock_wait_timeout = 30, innodb_lock_wait_timeout = 30, net_write_timeout = 600",
]
const BEGIN = 'start transaction with consistent snapshot, read only'

/** A user with one of these reaches beyond the tables: the server's files know no read-only transaction. */
const POWERS = /\b(?:ALL PRIVILEGES|FILE|SUPER)\b.* ON \*\.\*/

interface Statement {
  columns: unknown[]
  parameters: unknown[]
  execute(params: unknown[]): Query
}

/**
 * Runs a query in a read-only transaction that sees one snapshot. The query is prepared first, which takes one statement and says
 * whether that returns columns: one that writes a file, sets something or ends the transaction has none and never runs.
 */
export async function openMysqlRows(
  { query, params = [] }: Pick<SqlSource, 'query' | 'params'>,
  options: SqlReach,
): Promise<SqlRows> {
  return orClosed(await MysqlSession.open(options), async (session) => {
    const columns = await session.execute(query, params)
    refuseTwins(columns)
    return {
      columns: columns.map(({ name, type }) => ({ name, type })),
      pages: () => session.pages(),
      close: () => session.close(),
    }
  })
}

/** Opens a session and closes it again. */
export async function testMysql(options: SqlReach): Promise<void> {
  const session = await MysqlSession.open(options)
  await session.close()
}

class MysqlSession {
  readonly #reach: SqlReach
  readonly #target: MysqlTarget
  readonly #connection: Connection
  readonly #port: number
  readonly #unfollow: () => void
  readonly #pages: TextPage[] = []
  #silence: NodeJS.Timeout | undefined
  #paused = false
  /** From the start of the query to its last row. */
  #busy = false
  #error: unknown
  #wake: () => void = () => undefined
  #closed = false

  static async open(reach: SqlReach): Promise<MysqlSession> {
    reach.signal.throwIfAborted()
    const target = readMysqlUrl(reach.url)
    if (!target) throw refused('the address of the database cannot be read')
    let opened: Awaited<ReturnType<typeof connectMysql>>
    try {
      opened = await connectMysql(target, reach)
    } catch (error) {
      throw error instanceof AppError ? error : connectError(error)
    }
    return orClosed(new MysqlSession(reach, target, opened), async (session) => {
      await session.#begin()
      return session
    })
  }

  private constructor(
    reach: SqlReach,
    target: MysqlTarget,
    { connection, port }: { connection: Connection; port: number },
  ) {
    this.#reach = reach
    this.#target = target
    this.#connection = connection
    this.#port = port
    const cut = () => this.#fail(reach.signal.reason)
    reach.signal.addEventListener('abort', cut)
    this.#unfollow = () => reach.signal.removeEventListener('abort', cut)
  }

  /** Resolves with the columns, when the first row is near. */
  async execute(query: string, params: NonNullable<SqlSource['params']>): Promise<SqlColumn<MysqlValue>[]> {
    const statement = await this.#prepare(query).catch((error: unknown) => {
      throw prepareError(error, query)
    })
    if (statement.columns.length === 0) throw notReading(query)
    if (statement.parameters.length !== params.length)
      throw wrongParams(statement.parameters.length, params.length)
    this.#busy = true
    const running = statement.execute([...params])
    running.on('error', (error) => this.#end(queryError(error)))
    this.#silence = setTimeout(() => this.#quiet(), this.#silenceMs)
    return this.#waited((settle) => {
      // Rows may follow at once, so that their collector exists before the columns are announced.
      running.on('fields', (fields: FieldPacket | FieldPacket[]) => {
        const columns = [fields].flat().map(mysqlColumn)
        this.#gather(running, columns)
        settle(null, columns)
      })
    })
  }

  async *pages(): AsyncIterable<TextPage> {
    for (;;) {
      const page = this.#pages.shift()
      if (this.#paused && this.#pages.length < MOST_PAGES) this.#resume()
      if (page) {
        yield page
        continue
      }
      if (this.#error !== undefined) throw this.#error
      if (!this.#busy) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#unfollow()
    clearTimeout(this.#silence)
    this.#connection.destroy()
    // The server goes on with a query until it has a row to send. A session that cannot be ended ends by its time-out.
    if (this.#busy) await this.#kill().catch(() => undefined)
  }

  #gather(running: Query, columns: SqlColumn<MysqlValue>[]): void {
    const gatherer = new PageGatherer(columns)
    running.on('result', (row) => {
      this.#silence?.refresh()
      try {
        const page = gatherer.add(row as unknown as MysqlValue[])
        if (page) this.#push(page)
      } catch (error) {
        this.#fail(error)
      }
    })
    running.on('end', () => {
      const page = gatherer.rest()
      if (page) this.#pages.push(page)
      this.#end()
    })
  }

  #push(page: TextPage): void {
    this.#pages.push(page)
    if (this.#pages.length >= MOST_PAGES) {
      this.#paused = true
      this.#connection.pause()
    }
    this.#wake()
  }

  #resume(): void {
    this.#paused = false
    this.#silence?.refresh()
    this.#connection.resume()
  }

  get #silenceMs(): number {
    return this.#reach.silenceMs ?? SILENCE_MS
  }

  #quiet(): void {
    if (this.#paused) this.#silence?.refresh()
    else this.#fail(silent(this.#silenceMs))
  }

  /** The query is over on the server too. */
  #end(error?: unknown): void {
    this.#busy = false
    clearTimeout(this.#silence)
    this.#error ??= error
    this.#wake()
  }

  /** The query goes on, but nobody wants it any more. */
  #fail(error: unknown): void {
    this.#error ??= error
    this.#connection.destroy()
    this.#wake()
  }

  async #begin(): Promise<void> {
    const [[version] = []] = await this.#run('select version()')
    for (const statement of SESSION) await this.#run(statement)
    await this.#run(
      /mariadb/i.test(String(version))
        ? `set session max_statement_time = ${STATEMENT_SECONDS}`
        : `set session max_execution_time = ${STATEMENT_SECONDS * 1000}`,
    )
    await this.#run(BEGIN)
    const grants = await this.#run('show grants')
    if (grants.some(([grant]) => POWERS.test(String(grant))))
      throw refused(
        "the connection's user may use files of the database server; give Wharf a user that may only read tables",
      )
  }

  #prepare(query: string): Promise<Statement> {
    return this.#waited((settle) =>
      this.#connection.prepare(query, (error, statement) => settle(error, statement as unknown as Statement)),
    )
  }

  #run(sql: string): Promise<unknown[][]> {
    return this.#waited((settle) =>
      this.#connection.query(sql, (error: Error | null, rows: unknown) => settle(error, rows as unknown[][])),
    )
  }

  /** What the server answers; an abort cuts the connection, which calls no callback. */
  async #waited<T>(ask: (settle: (error: Error | null, answer: T) => void) => void): Promise<T> {
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#wake = () => reject(this.#error)
        if (this.#error !== undefined) this.#wake()
        else ask((error, answer) => (error ? reject(queryError(error)) : resolve(answer)))
      })
    } finally {
      this.#wake = () => undefined
    }
  }

  /** Only the session that came from this machine's port: through a proxy the id may be that of somebody else's. */
  async #kill(): Promise<void> {
    const { threadId } = this.#connection
    const { connection } = await connectMysql(this.#target, this.#reach)
    const run = (sql: string, values: unknown[]) =>
      new Promise<unknown[][]>((resolve, reject) =>
        connection.query(sql, values, (error, rows) =>
          error ? reject(error) : resolve(rows as unknown as unknown[][]),
        ),
      )
    try {
      const own = await run('select id from information_schema.processlist where id = ? and host like ?', [
        threadId,
        `%:${this.#port}`,
      ])
      if (own.length > 0) await run('kill ?', [threadId])
    } finally {
      connection.destroy()
    }
  }
}

/** Users and passwords, or plug-ins for them; databases and rights to them. Everything else may pass. */
const USER_FAULTS = new Set([1045, 1251, 1524, 1698])
const DATABASE_FAULTS = new Set([1044, 1049])

function connectError(cause: unknown): AppError {
  const { errno = 0 } = cause as { errno?: number }
  if (USER_FAULTS.has(errno)) return notLetIn('user', cause)
  return DATABASE_FAULTS.has(errno) ? notLetIn('database', cause) : unreachable(cause)
}

const SYNTAX = 1064
/** These have rows here, and their faults are the database's to describe. */
const LOOKS = /^\s*(?:show|desc|describe|explain)\b/i

function prepareError(error: unknown, query: string): unknown {
  const { errno = 0 } = ((error as Error)?.cause ?? {}) as { errno?: number }
  const isFault = errno > 0 && isAppError(error) && !error.retryable
  if (isFault && !beginsAsQuery(query) && !LOOKS.test(query)) return notReading(query)
  if (errno !== SYNTAX) return error
  // It quotes what it does not understand: here, what follows the end of the first statement.
  const [, rest = ''] = /near '([\s\S]*)' at line \d+$/.exec(messageOf((error as Error).cause)) ?? []
  return rest !== '' && /;\s*$/.test(query.slice(0, query.indexOf(rest))) ? oneTooMany() : error
}

/** Too many connections, shutting down, lock wait, deadlock, interrupted, killed: worth another try. */
const PASSING = new Set([1040, 1053, 1203, 1205, 1213, 1226, 1317, 1927])

/** What the server says of the query is the caller's to read. */
function queryError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { errno, code, sqlState } = error as { errno?: number; code?: string; sqlState?: string }
  if (sqlState === undefined || errno === undefined) return gone(error)
  return new AppError(ERRORS.QUERY_FAILED, `the database says: ${messageOf(error)} (${code})`, {
    cause: error,
    retryable: PASSING.has(errno),
  })
}
