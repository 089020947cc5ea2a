import pg from 'pg'
import { AppError, ERRORS, messageOf } from '../../../kernel/index.ts'
import type { TextPage } from '../row-feed.ts'
import { cancelPostgres, type RunningClient } from './cancel-postgres.ts'
import { postgresColumn } from './postgres-columns.ts'
import { refused, refuseTwins, unreachable } from './sql-error.ts'
import { FIRST_ROWS, MOST_ROWS, PAGE_CHARACTERS, rowWriter, type SqlColumn } from './sql-pages.ts'
import type { SqlReach, SqlRows, SqlSource } from './sql-source.ts'

/** Of each statement, so of each run of rows. */
const STATEMENT_MS = 300_000
const CONNECT_MS = 15_000

/** Values as PostgreSQL writes them, whatever their type. */
const AS_TEXT = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig

/** What makes every session read the same way and nothing but read. */
const SESSION = `
  set local statement_timeout = ${STATEMENT_MS};
  set local lock_timeout = 30000;
  set local timezone = 'UTC';
  set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'iso_8601';
  set local bytea_output = 'hex';
  set local extra_float_digits = 1`

/** A role with one of these reaches beyond the database: the server's files and programs know no read-only transaction. */
const POWERS = `
  select current_setting('is_superuser') = 'on'
    or pg_has_role('pg_read_server_files', 'member')
    or pg_has_role('pg_write_server_files', 'member')
    or pg_has_role('pg_execute_server_program', 'member') as powerful,
    to_regclass('schema_versions') is not null and to_regclass('export_files') is not null
    and to_regclass('lane_turns') is not null as ledger`

/**
 * Runs a query in a read-only transaction that sees one snapshot, through a cursor. The query is declared as that cursor, which takes
 * one SELECT or VALUES without data-modifying parts and nothing else; its parameters are bound. The transaction is never committed.
 */
export async function openPostgresRows(
  { query, params = [] }: Pick<SqlSource, 'query' | 'params'>,
  options: SqlReach,
): Promise<SqlRows> {
  const session = await PostgresSession.open(options)
  try {
    await session.declare(query, params)
    const first = await session.fetch(FIRST_ROWS)
    const columns = first.fields.map(({ name, dataTypeID }) => ({ name, ...postgresColumn(dataTypeID) }))
    refuseTwins(columns)
    return {
      columns: columns.map(({ name, type }) => ({ name, type })),
      pages: () => session.pages(columns, first.rows as (string | null)[][]),
      close: () => session.close(),
    }
  } catch (error) {
    await session.close()
    throw error
  }
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
  #closed = false
  #cancelled: Promise<void> = Promise.resolve()

  static async open(options: SqlReach): Promise<PostgresSession> {
    const session = new PostgresSession(await guardedClient(options), options.signal)
    try {
      await session.#begin()
      return session
    } catch (error) {
      await session.close()
      throw error
    }
  }

  private constructor(client: pg.Client, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
    // An error between two statements shows with the next one; without a listener it would end the process.
    client.on('error', () => undefined)
    const cut = () => this.#cut()
    signal.addEventListener('abort', cut)
    this.#unfollow = () => signal.removeEventListener('abort', cut)
  }

  /** By the extended protocol, also without parameters: it takes one statement, where the simple one takes any number. */
  async declare(query: string, params: NonNullable<SqlSource['params']>): Promise<void> {
    const text = `declare wharf no scroll cursor for ${query}`
    await this.run({ text, values: [...params], queryMode: 'extended' } as pg.QueryConfig)
  }

  async run(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    this.#signal.throwIfAborted()
    try {
      return await this.#client.query(statement)
    } catch (error) {
      this.#signal.throwIfAborted()
      throw queryError(error)
    }
  }

  fetch(rows: number): Promise<pg.QueryArrayResult> {
    const text = `fetch forward ${rows} from wharf`
    const statement = { text, rowMode: 'array', types: AS_TEXT } as pg.QueryArrayConfig
    return this.run(statement) as unknown as Promise<pg.QueryArrayResult>
  }

  async *pages(columns: readonly SqlColumn<string>[], first: (string | null)[][]) {
    const write = rowWriter(columns)
    let rows = first
    let asked = FIRST_ROWS
    for (;;) {
      if (rows.length > 0) yield pageOf(rows, write)
      if (rows.length < asked) return
      asked = Math.max(1, Math.min(MOST_ROWS, Math.round((rows.length * PAGE_CHARACTERS) / sizeOf(rows))))
      rows = (await this.fetch(asked)).rows as (string | null)[][]
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#unfollow()
    // The transaction ends with the session. A session that is gone needs no end.
    await Promise.all([this.#cancelled, this.#client.end().catch(() => undefined)])
  }

  async #begin(): Promise<void> {
    try {
      await this.#client.connect()
    } catch (cause) {
      this.#signal.throwIfAborted()
      throw unreachable(cause)
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

function pageOf(
  rows: readonly (string | null)[][],
  write: (row: readonly (string | null)[]) => string,
): TextPage {
  let text = '{"data":['
  for (let n = 0; n < rows.length; n++) text += n === 0 ? write(rows[n]!) : `,${write(rows[n]!)}`
  return { text: `${text}]}`, rows: rows.length }
}

function sizeOf(rows: readonly (string | null)[][]): number {
  let size = 1
  for (const row of rows) for (const value of row) size += (value?.length ?? 4) + 8
  return size
}

/** What PostgreSQL says of the query is the caller's to read; the statement itself is not repeated. */
function queryError(error: unknown): AppError {
  const { code } = error as { code?: string }
  const isQuery = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
  // Connection lost, too many connections, shutting down, conflict with recovery: worth another try.
  const passing = !isQuery || /^(?:08|53|57P|40)/.test(code)
  const kind = isQuery ? ERRORS.QUERY_FAILED : ERRORS.SOURCE_UNREACHABLE
  const message = isQuery
    ? `the database says: ${messageOf(error)} (${code})`
    : `the database is gone: ${messageOf(error)}`
  return new AppError(kind, message, { cause: error, retryable: passing })
}
