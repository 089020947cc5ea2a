import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely'
import type pg from 'pg'
import { metrics } from '../../kernel/index.ts'
import { type Statement, statementsOf } from '../commit-with.ts'
import { guarded } from '../outage.ts'
import { tellStatement } from '../statements.ts'
import { sendTogether } from './pipeline.ts'

const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])
const COMMIT = { sql: 'commit', parameters: [] }
const ROLLBACK = { sql: 'rollback', parameters: [] }

/**
 * Kysely on a pool of `pg`, with as few messages as possible: `begin` goes with the first statement of a transaction,
 * and what locks rows that many wait for goes with `commit`, see `commitWith`. Says that the server is away in one way.
 */
export class PostgresDriver implements Driver {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(await guarded(this.#pool.connect()))
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
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  /** Not sent yet: it waits for the first statement. */
  #begin: Statement | undefined
  #open = false

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  begin({ isolationLevel, accessMode }: TransactionSettings): void {
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    this.#begin = { sql: `begin${level}${accessMode ? ` ${accessMode}` : ''}`, parameters: [] }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
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
    this.#client.release(this.#open)
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
    try {
      return await this.#sendNow(given)
    } finally {
      answered()
    }
  }

  #sendNow(given: readonly Statement[]): Promise<pg.QueryResult[]> {
    const statements = given.map(withoutNul)
    for (const statement of statements) tellStatement(statement)
    const begin = this.#begin
    if (begin) {
      this.#begin = undefined
      this.#open = true
      return guarded(sendTogether(this.#client, [begin, ...statements]))
    }
    const [only, ...more] = statements
    if (!only || more.length > 0) return guarded(sendTogether(this.#client, statements))
    return guarded(this.#client.query(only.sql, [...only.parameters]).then((result) => [result]))
  }
}

/** PostgreSQL takes no text with a NUL, and what a source, a feed or a processor says may have one. */
function withoutNul<S extends Statement>(statement: S): S {
  const has = (value: unknown) => typeof value === 'string' && value.includes('\0')
  if (!statement.parameters.some(has)) return statement
  const parameters = statement.parameters.map((value) =>
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value,
  )
  return { ...statement, parameters }
}

function toResult<R>({ command, rowCount, rows }: pg.QueryResult): QueryResult<R> {
  if (!CHANGES.has(command)) return { rows: rows as R[] }
  return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) }
}
