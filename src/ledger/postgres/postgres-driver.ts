import type { Socket } from 'node:net'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely'
import type pg from 'pg'
import { metrics } from '../../kernel/index.ts'
import { allowedBy } from '../allow-time.ts'
import { type Statement, statementsOf } from '../commit-with.ts'
import { guarded, NO_ANSWER } from '../outage.ts'
import { tellStatement } from '../statements.ts'
import { storableText } from '../storable-text.ts'
import { sendTogether } from './pipeline.ts'

const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])
const COMMIT = { sql: 'commit', parameters: [] }
const ROLLBACK = { sql: 'rollback', parameters: [] }
const SECOND_LOOK_MS = 250

/** How long a server may say nothing. */
export interface Silence {
  /** After a message; null: for ever. */
  longestMs: number | null
  /** On top of what a transaction was allowed. */
  answerMs: number
}

/** What the types of `pg` leave out. */
type Socketed = pg.PoolClient & { connection: { stream: Socket }; processID: number | null }

/**
 * Kysely on a pool of `pg`, with as few messages as possible: `begin` goes with the first statement of a transaction,
 * and what locks rows that many wait for goes with `commit`, see `commitWith`. Says that the server is away in one way.
 *
 * A server that hangs is away as well. A caller that has waited for the longest time gives up the connection, and with it
 * those that are idle: the next caller connects anew and fails at once. Whether a commit was carried out that was not
 * answered is not known, as when the connection breaks.
 */
export class PostgresDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #silence: Silence
  readonly #idle = new Set<pg.PoolClient>()

  constructor(pool: pg.Pool, silence: Silence) {
    this.#pool = pool
    this.#silence = silence
    pool.on('remove', (client) => this.#idle.delete(client as pg.PoolClient))
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const client = await guarded(this.#pool.connect())
    this.#idle.delete(client)
    return new PostgresConnection(client, this.#silence, () => {
      for (const idle of this.#idle) cut(idle)
    })
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    connection.begin(settings)
  }

  commitTransaction(connection: PostgresConnection): Promise<void> {
    return connection.commit()
  }

  rollbackTransaction(connection: PostgresConnection): Promise<void> {
    return connection.rollback()
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    this.#idle.add(connection.client)
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly client: pg.PoolClient
  readonly #silence: Silence
  readonly #onHanging: () => void
  #longestMs: number | null
  /** Not sent yet: it waits for the first statement. */
  #begin: Statement | undefined
  #open = false

  constructor(client: pg.PoolClient, silence: Silence, onHanging: () => void) {
    this.client = client
    this.#silence = silence
    this.#longestMs = silence.longestMs
    this.#onHanging = onHanging
  }

  begin({ isolationLevel, accessMode }: TransactionSettings): void {
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    this.#begin = { sql: `begin${level}${accessMode ? ` ${accessMode}` : ''}`, parameters: [] }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const allowed = allowedBy(query)
    if (allowed !== undefined) this.#longestMs = allowed + this.#silence.answerMs
    const statements = statementsOf(query)
    if (!statements) return toResult((await this.#send([query])).at(-1) as pg.QueryResult)
    const alone = !this.#open && !this.#begin
    if (alone) this.begin({})
    try {
      const results = await this.#commit(statements)
      return { rows: results.slice(-statements.length - 1, -1).map((result) => toResult(result)) as R[] }
    } catch (error) {
      if (alone) await this.rollback()
      throw error
    }
  }

  async commit(): Promise<void> {
    this.#begin = undefined
    if (this.#open) await this.#commit([])
  }

  /** A connection that cannot even do that is not used again. */
  async rollback(): Promise<void> {
    this.#begin = undefined
    if (!this.#open) return
    await this.#send([ROLLBACK]).then(
      () => (this.#open = false),
      () => undefined,
    )
  }

  release(): void {
    this.client.release(this.#open)
  }

  // biome-ignore lint/correctness/useYield: nothing streams from the ledger; the port asks for a generator.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported: read in pages')
  }

  async #commit(statements: readonly Statement[]): Promise<pg.QueryResult[]> {
    const results = await this.#send([...statements, COMMIT])
    this.#open = false
    if (results.at(-1)?.command !== 'COMMIT')
      throw new Error('a statement of this transaction had failed before')
    return results
  }

  async #send(given: readonly Statement[]): Promise<pg.QueryResult[]> {
    const answered = metrics.ledgerStatements.startTimer()
    const stopWaiting = this.#longestMs === null ? () => undefined : this.#waitFor(this.#longestMs)
    try {
      return await this.#sendNow(given)
    } finally {
      stopWaiting()
      answered()
    }
  }

  /**
   * Gives the connection up after this time, and the query that waits fails with it. Not at once: where this process was
   * stopped itself, the answer may be there and is read before the second look.
   */
  #waitFor(ms: number): () => void {
    let timer = setTimeout(() => {
      timer = setTimeout(() => {
        cut(this.client)
        this.#onHanging()
      }, SECOND_LOOK_MS)
    }, ms)
    return () => clearTimeout(timer)
  }

  #sendNow(given: readonly Statement[]): Promise<pg.QueryResult[]> {
    const { processID: session } = this.client as Socketed
    const statements = given.map(storable)
    for (const statement of statements) tellStatement(statement)
    const begin = this.#begin
    if (begin) {
      this.#begin = undefined
      this.#open = true
      return guarded(sendTogether(this.client, [begin, ...statements]), session)
    }
    const [only, ...more] = statements
    if (!only || more.length > 0 || only.parameters.length > 0)
      return guarded(sendTogether(this.client, statements), session)
    // As it is: it may be a script of several statements.
    const answer = this.client.query(only.sql)
    return guarded(
      answer.then((result) => [result]),
      session,
    )
  }
}

function cut(client: pg.PoolClient): void {
  const error = new Error('PostgreSQL does not answer; its connection was given up')
  ;(client as Socketed).connection.stream.destroy(Object.assign(error, { code: NO_ANSWER }))
}

function storable<S extends Statement>(statement: S): S {
  const parameter = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(parameter)
    return typeof value === 'string' ? storableText(value) : value
  }
  return { ...statement, parameters: statement.parameters.map(parameter) }
}

function toResult<R>({ command, rowCount, rows }: pg.QueryResult): QueryResult<R> {
  if (!CHANGES.has(command)) return { rows: rows as R[] }
  return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) }
}
