import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { metrics } from '../../kernel/index.ts'
import { toSqliteLedgerError } from '../outage.ts'
import { isScript, tellStatement } from '../statements.ts'
import { SqliteWriter } from './sqlite-writer.ts'

/** Kysely on `node:sqlite`. Kysely's own SQLite driver expects better-sqlite3 and misbehaves here. */
export function nodeSqliteDialect(databases: SqliteDatabases): Dialect {
  return {
    createDriver: () => new NodeSqliteDriver(databases),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/** Two handles on one file: a reader sees only what is committed, whatever the writer has in hand. */
export interface SqliteDatabases {
  writer: DatabaseSync
  reader: DatabaseSync
}

const MAX_STATEMENTS = 500

class StatementCache {
  readonly #db: DatabaseSync
  /** `answers`: it has columns. Asking for them is dear, and what is prepared does not change. */
  readonly #statements = new Map<string, { statement: StatementSync; answers: boolean }>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  run<R>(query: CompiledQuery): QueryResult<R> {
    tellStatement(query)
    const started = performance.now()
    try {
      return this.#run(query)
    } catch (error) {
      throw toSqliteLedgerError(error)
    } finally {
      metrics.ledgerStatements.observe((performance.now() - started) / 1_000)
    }
  }

  #run<R>(query: CompiledQuery): QueryResult<R> {
    if (isScript(query)) {
      this.#db.exec(query.sql)
      return { rows: [] }
    }
    const { statement, answers } = this.#prepare(query.sql)
    const parameters = query.parameters.map(toSqlite)
    if (answers) {
      const rows = statement.all(...parameters) as R[]
      return { rows, numAffectedRows: BigInt(rows.length) }
    }
    const { changes } = statement.run(...parameters)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  #prepare(sql: string): { statement: StatementSync; answers: boolean } {
    let prepared = this.#statements.get(sql)
    if (!prepared) {
      const statement = this.#db.prepare(sql)
      prepared = { statement, answers: statement.columns().length > 0 }
      if (this.#statements.size >= MAX_STATEMENTS) {
        for (const oldest of this.#statements.keys()) {
          this.#statements.delete(oldest)
          break
        }
      }
      this.#statements.set(sql, prepared)
    }
    return prepared
  }
}

function toSqlite(value: unknown): SQLInputValue {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  return value as SQLInputValue
}

function isRead(query: CompiledQuery): boolean {
  return query.query.kind === 'SelectQueryNode' || /^\s*select\b/i.test(query.sql)
}

class NodeSqliteDriver implements Driver {
  readonly #databases: SqliteDatabases
  readonly #shared: { writer: SqliteWriter; write: StatementCache; read: StatementCache }

  constructor(databases: SqliteDatabases) {
    this.#databases = databases
    this.#shared = {
      writer: new SqliteWriter(databases.writer),
      write: new StatementCache(databases.writer),
      read: new StatementCache(databases.reader),
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<NodeSqliteConnection> {
    return new NodeSqliteConnection(this.#shared)
  }

  beginTransaction(connection: NodeSqliteConnection): Promise<void> {
    return connection.begin()
  }

  commitTransaction(connection: NodeSqliteConnection): Promise<void> {
    return connection.commit()
  }

  async rollbackTransaction(connection: NodeSqliteConnection): Promise<void> {
    connection.rollback()
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#databases.reader.close()
    this.#databases.writer.close()
  }
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #shared: { writer: SqliteWriter; write: StatementCache; read: StatementCache }
  #inTransaction = false

  constructor(shared: { writer: SqliteWriter; write: StatementCache; read: StatementCache }) {
    this.#shared = shared
  }

  async begin(): Promise<void> {
    await this.#shared.writer.begin()
    this.#inTransaction = true
  }

  /** Waits for the disk, and for others whose commit it shares. */
  async commit(): Promise<void> {
    this.#inTransaction = false
    const started = performance.now()
    await this.#shared.writer.commit()
    metrics.ledgerStatements.observe((performance.now() - started) / 1_000)
  }

  /** Kysely also rolls back after a commit that failed, when the writer has long been somebody else's. */
  rollback(): void {
    if (!this.#inTransaction) return
    this.#inTransaction = false
    this.#shared.writer.rollback()
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#inTransaction) {
      this.#shared.writer.requireTransaction()
      return this.#shared.write.run(query)
    }
    if (isRead(query)) return this.#shared.read.run(query)
    await this.begin()
    try {
      const result = this.#shared.write.run<R>(query)
      await this.commit()
      return result
    } catch (error) {
      this.rollback()
      throw error
    }
  }

  // biome-ignore lint/correctness/useYield: SQLite answers at once, nothing streams; the port asks for a generator.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported on SQLite: read in pages')
  }
}
