import { connect } from 'node:net'
import pg from 'pg'
import { AppError, ERRORS, messageOf } from '../../../../kernel/index.ts'
import type { FeedPage } from '../../pages/index.ts'
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
import { MOST_ROWS, SILENCE_MS } from '../sql-pages.ts'
import { orClosed, type SqlReach, type SqlRows, type SqlSource } from '../sql-source.ts'
import { postgresColumn, type ValueForm } from './postgres-columns.ts'
import { fetchPages } from './postgres-fetch.ts'
import { RowPages } from './row-pages.ts'

/** Of each statement, so of each run of rows: the server's own limit, should this process be gone. */
const STATEMENT_MS = 3_600_000
const CONNECT_MS = 15_000

/** What makes every session read the same way and nothing but read. */
const SESSION = `
  set local statement_timeout = ${STATEMENT_MS};
  set local lock_timeout = 30000;
  set local timezone = 'UTC';
  set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'iso_8601';
  set local bytea_output = 'hex';
  set local extra_float_digits = 1`

/**
 * A role with one of these reaches beyond the database: the server's files and programs know no read-only transaction. A ledger is one in
 * whichever schema it is, also where the role's `search_path` does not lead there.
 */
const POWERS = `
  select current_setting('is_superuser') = 'on'
    or pg_has_role('pg_read_server_files', 'member')
    or pg_has_role('pg_write_server_files', 'member')
    or pg_has_role('pg_execute_server_program', 'member') as powerful,
    exists (select from pg_catalog.pg_class where relname in ('schema_versions', 'export_files', 'lane_turns') and relkind = 'r'
      group by relnamespace having count(*) = 3) as ledger`

/**
 * Runs a query in a read-only transaction that sees one snapshot, through a cursor. The query is declared as that cursor, which takes
 * one SELECT or VALUES without data-modifying parts and nothing else; its parameters are bound. The transaction is never committed.
 */
export async function openPostgresRows(
  { query, params = [] }: Pick<SqlSource, 'query' | 'params'>,
  options: SqlReach,
): Promise<SqlRows> {
  return orClosed(await PostgresSession.open(options), async (session) => {
    await session.declare(query, params)
    // No rows yet, only what they look like.
    const { fields } = await session.run({ text: 'fetch forward 0 from wharf' })
    const columns = fields.map(({ name, dataTypeID }) => ({ name, ...postgresColumn(dataTypeID) }))
    refuseTwins(columns)
    const pages = session.pages(columns)
    // What the database makes of the query shows with its first rows.
    const first = await pages.next()
    return {
      columns: columns.map(({ name, type }) => ({ name, type })),
      async *pages() {
        if (first.done) return
        yield first.value
        yield* pages
      },
      close: () => session.close(),
    }
  })
}

/** Opens a session and closes it again. */
export async function testPostgres(options: SqlReach): Promise<void> {
  const session = await PostgresSession.open(options)
  await session.close()
}

class PostgresSession {
  readonly #client: pg.Client
  readonly #signal: AbortSignal
  readonly #unfollow: () => void
  readonly #silenceMs: number
  #silence: NodeJS.Timeout | undefined
  /** Why it was cut by Wharf itself. */
  #late: AppError | undefined
  #closed = false
  #cancelled: Promise<void> = Promise.resolve()

  static async open(options: SqlReach): Promise<PostgresSession> {
    return orClosed(new PostgresSession(await guardedClient(options), options), async (session) => {
      await session.#begin()
      return session
    })
  }

  private constructor(client: pg.Client, { signal, silenceMs = SILENCE_MS }: SqlReach) {
    this.#client = client
    this.#signal = signal
    this.#silenceMs = silenceMs
    // An error between two statements shows with the next one; without a listener it would end the process.
    client.on('error', () => undefined)
    const cut = () => this.#cut()
    signal.addEventListener('abort', cut)
    this.#unfollow = () => signal.removeEventListener('abort', cut)
  }

  /** By the extended protocol, also without parameters: it takes one statement, where the simple one takes any number. */
  async declare(query: string, params: NonNullable<SqlSource['params']>): Promise<void> {
    // With a line end, because the query may begin with a comment.
    const text = `declare wharf no scroll cursor for\n${query}`
    try {
      await this.run({ text, values: [...params], queryMode: 'extended' } as pg.QueryConfig)
    } catch (error) {
      throw declareError(error, query)
    }
  }

  async run(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    this.#signal.throwIfAborted()
    this.#listen()
    try {
      return await this.#client.query(statement)
    } catch (error) {
      throw this.#errorOf(error)
    } finally {
      this.#rest()
    }
  }

  async *pages(columns: readonly { name: string; form: ValueForm }[]): AsyncGenerator<FeedPage> {
    const written = new RowPages(columns)
    const hooks = {
      heard: () => {
        this.#silence?.refresh()
      },
      resting: (rests: boolean) => (rests ? this.#rest() : this.#listen()),
      errorOf: (error: unknown) => this.#errorOf(error),
    }
    try {
      for (let rows = MOST_ROWS; rows === MOST_ROWS; ) {
        this.#signal.throwIfAborted()
        this.#listen()
        rows = yield* fetchPages(this.#client, MOST_ROWS, written, hooks)
      }
    } finally {
      this.#rest()
    }
    const rest = written.rest()
    if (rest) yield rest
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#rest()
    this.#unfollow()
    // The transaction ends with the session. A session that is gone needs no end.
    await Promise.all([this.#cancelled, this.#client.end().catch(() => undefined)])
  }

  async #begin(): Promise<void> {
    try {
      await this.#client.connect()
    } catch (cause) {
      this.#signal.throwIfAborted()
      throw connectError(cause)
    }
    // Should a query end the transaction in a way that nobody thought of, the next one is read only too.
    await this.run({ text: 'set default_transaction_read_only = on' })
    await this.run({ text: 'begin isolation level repeatable read read only' })
    await this.run({ text: SESSION })
    const [found] = (await this.run({ text: POWERS })).rows as { powerful: boolean; ledger: boolean }[]
    if (found?.ledger) throw refused('the database is a ledger of Wharf; exports may not read it')
    if (found?.powerful)
      throw refused(
        "the connection's role may use files or programs of the database server; give Wharf a role that may only read tables",
      )
  }

  /** Waits for the server by Wharf's own clock: a query may lift the limit that its session has. */
  #listen(): void {
    this.#rest()
    this.#silence = setTimeout(() => {
      this.#late = silent(this.#silenceMs)
      this.#cut()
    }, this.#silenceMs)
  }

  #rest(): void {
    clearTimeout(this.#silence)
    this.#silence = undefined
  }

  #errorOf(error: unknown): unknown {
    return this.#signal.aborted ? this.#signal.reason : (this.#late ?? queryError(error))
  }

  /** By itself the server would notice with its next rows, or when the statement's time is over. */
  #cut(): void {
    const { connection } = this.#client as unknown as { connection: { stream: { destroy(): void } } }
    connection.stream.destroy()
    this.#cancelled = cancelPostgres(this.#client as unknown as RunningClient)
  }
}

async function guardedClient({ url, addressOf }: SqlReach): Promise<pg.Client> {
  const asked = new pg.Client({ connectionString: url }) as pg.Client & { ssl: unknown }
  const { user, password, database, host, port } = asked
  if (host.startsWith('/')) throw refused('a socket file cannot be used as a host')
  const address = await addressOf(host, port)
  // The certificate is that of the name, wherever the name leads.
  const ssl = asked.ssl ? { ...(typeof asked.ssl === 'object' ? asked.ssl : {}), servername: host } : false
  return new pg.Client({
    user,
    password,
    database,
    host: address,
    port,
    ssl,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'wharf',
    keepAlive: true,
  } as pg.ClientConfig)
}

/** Who and where are the connection's; everything else may pass. */
function connectError(cause: unknown): AppError {
  const { code = '' } = cause as { code?: string }
  if (/^28/.test(code) || /^SASL: .*password/.test(messageOf(cause))) return notLetIn('user', cause)
  return code === '3D000' || code === '42501' ? notLetIn('database', cause) : unreachable(cause)
}

/** The caller knows nothing of the cursor that the statement is made part of. */
function declareError(error: unknown, query: string): unknown {
  const { code, message } = ((error as Error)?.cause ?? {}) as { code?: string; message?: string }
  if (code === '42601' && !beginsAsQuery(query)) return notReading(query)
  if (code === '42601' && message?.includes('multiple commands')) return oneTooMany()
  return message?.startsWith('DECLARE ') ? notReading(query) : error
}

/** What PostgreSQL says of the query is the caller's to read; the statement itself is not repeated. */
function queryError(error: unknown): AppError {
  const { code } = error as { code?: string }
  const [, given, wanted] =
    /^bind message supplies (\d+) parameters, but .* requires (\d+)$/.exec(messageOf(error)) ?? []
  if (code === '08P01' && wanted !== undefined) return wrongParams(Number(wanted), Number(given))
  const isQuery = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
  if (!isQuery) return gone(error)
  return new AppError(ERRORS.QUERY_FAILED, `the database says: ${messageOf(error)} (${code})`, {
    cause: error,
    // Connection lost, too many connections, shutting down, conflict with recovery: worth another try.
    retryable: /^(?:08|53|57P|40)/.test(code),
  })
}

/** What a client knows about its session; there is no process id before it is connected. */
interface RunningClient {
  host: string
  port: number
  processID: number | null
  secretKey: number | Buffer | null
}

const CANCEL_REQUEST = 80_877_102
const PATIENCE_MS = 5_000

/** Ends what a session is at. The request goes over a connection of its own, and PostgreSQL answers by closing that. */
function cancelPostgres({ host, port, processID, secretKey }: RunningClient): Promise<void> {
  if (processID === null || secretKey === null) return Promise.resolve()
  const secret = typeof secretKey === 'number' ? int32(secretKey) : secretKey
  const request = Buffer.concat([int32(12 + secret.length), int32(CANCEL_REQUEST), int32(processID), secret])
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => socket.end(request))
    socket.setTimeout(PATIENCE_MS, () => socket.destroy())
    // A server that cannot be asked ends the query by its time-out.
    socket.on('error', () => undefined)
    socket.on('data', () => undefined)
    socket.on('close', () => resolve())
  })
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
