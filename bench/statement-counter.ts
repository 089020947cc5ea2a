import pg from 'pg'

export interface Statement {
  text: string
  calls: number
  rows: number
}

const NOT_COUNTED = /^\s*(begin|start transaction|commit|rollback|savepoint|release|set|reset|discard)\b/i

/**
 * Counts the statements that one database was sent, in the server: `pg_stat_statements` with `track = top`, so what
 * functions run inside is not counted. The counter's own statements go to another database.
 */
export class StatementCounter {
  readonly #client: pg.Client
  readonly #database: string
  #before = new Map<string, Statement>()

  constructor(adminUrl: string, database: string) {
    this.#client = new pg.Client({ connectionString: adminUrl })
    this.#database = database
  }

  async open(): Promise<void> {
    await this.#client.connect()
  }

  async mark(): Promise<void> {
    this.#before = await this.#read()
  }

  /** What was sent since the last mark, the most frequent first. */
  async sinceMark(): Promise<Statement[]> {
    const now = await this.#read()
    return [...now]
      .map(([id, { text, calls, rows }]) => {
        const before = this.#before.get(id)
        return { text, calls: calls - (before?.calls ?? 0), rows: rows - (before?.rows ?? 0) }
      })
      .filter(({ calls }) => calls > 0)
      .sort((a, b) => b.calls - a.calls)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  async #read(): Promise<Map<string, Statement>> {
    const { rows } = await this.#client.query<{ id: string; text: string; calls: string; rows: string }>(
      `select queryid::text as id, min(query) as text, sum(calls) as calls, sum(rows) as rows
       from pg_stat_statements join pg_database on pg_database.oid = dbid where datname = $1 group by queryid`,
      [this.#database],
    )
    return new Map(
      rows
        .filter(({ text }) => !NOT_COUNTED.test(text))
        .map(({ id, text, calls, rows }) => [id, { text, calls: Number(calls), rows: Number(rows) }]),
    )
  }
}
