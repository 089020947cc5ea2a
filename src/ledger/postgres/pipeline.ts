/// <reference path="./pg-utils.d.ts" />
import pg from 'pg'
import utils from 'pg/lib/utils.js'
import type { Statement } from '../commit-with.ts'

/**
 * Sends several statements as one message and answers with the result of each. The server carries them out one after
 * another without waiting for this process, and skips the rest after one that fails. Each sees what was committed
 * before it began, as if it had been sent alone.
 */
export function sendTogether(
  client: pg.ClientBase,
  statements: readonly Statement[],
): Promise<pg.QueryResult[]> {
  // Before anything is sent: a value that cannot be sent must not leave half a message behind.
  const values = statements.map(({ parameters }) => parameters.map((value) => utils.prepareValue(value)))
  const prepared = Prepared.of(client)
  const ready = statements.map((statement, index) => ({
    sql: statement.sql,
    values: values[index] ?? [],
    ...prepared.name(statement),
  }))
  return new Promise((resolve, reject) => {
    const query = new pg.Query('', (error, results) => {
      if (error) {
        prepared.forget()
        reject(error)
      } else resolve([results].flat() as unknown as pg.QueryResult[])
    })
    query.submit = (connection) => {
      // One write, so that the process cannot be stopped between two of them.
      connection.stream.cork()
      try {
        for (const name of prepared.takeObsolete()) connection.close({ type: 'S', name }, true)
        for (const one of ready) put(connection, one)
        connection.sync()
      } finally {
        connection.stream.uncork()
      }
    }
    client.query(query)
  })
}

interface Ready {
  sql: string
  values: (string | Buffer | null)[]
  name: string
  isNew: boolean
}

function put(connection: pg.Connection, { sql, values, name, isNew }: Ready): void {
  if (name === '' || isNew) connection.parse({ name, text: sql, types: [] }, true)
  connection.bind({ statement: name, values } as pg.BindConfig, true)
  connection.describe({ type: 'P', name: '' }, true)
  connection.execute({}, true)
}

/** A text that comes more often than this within the time below is prepared. */
const OFTEN = 3
/**
 * PostgreSQL keeps the plan of what is prepared, and a plan that was made for a small table stays when the table has
 * grown. So nothing is kept for longer than this, which is long for a process that is short of time.
 */
const KEPT_MS = 2_000
/** A column that another version adds meanwhile would make these fail. */
const WHOLE_ROWS = /(select|returning|distinct|,) \*|\.\*/i

/** The statements that one connection has prepared: those that it is sent again and again, and nothing while it is idle. */
export class Prepared {
  readonly #uses = new Map<string, number>()
  readonly #names = new Map<string, string>()
  #obsolete: string[] = []
  readonly #now: () => number
  #since = Number.NEGATIVE_INFINITY
  #count = 0

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  static of(client: pg.ClientBase): Prepared {
    const prepared = byClient.get(client) ?? new Prepared()
    byClient.set(client, prepared)
    return prepared
  }

  /** The name of a statement, empty if it is to be parsed and forgotten; `isNew` if it has to be parsed under its name first. */
  name({ sql, parameters }: Statement): { name: string; isNew: boolean } {
    if (this.#now() - this.#since > KEPT_MS) this.forget()
    const known = this.#names.get(sql)
    if (known !== undefined) return { name: known, isNew: false }
    const uses = (this.#uses.get(sql) ?? 0) + 1
    this.#uses.set(sql, uses)
    if (uses <= OFTEN || parameters.length === 0 || WHOLE_ROWS.test(sql)) return { name: '', isNew: false }
    const name = `wharf_${++this.#count}`
    this.#names.set(sql, name)
    return { name, isNew: true }
  }

  /** Also after an error: what came after it in the same message was not parsed. */
  forget(): void {
    this.#since = this.#now()
    this.#obsolete.push(...this.#names.values())
    this.#names.clear()
    this.#uses.clear()
  }

  /** Names that the server may forget. */
  takeObsolete(): string[] {
    return this.#obsolete.splice(0)
  }
}

const byClient = new WeakMap<pg.ClientBase, Prepared>()
