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
  const ready = statements.map(({ sql, parameters }) => ({
    sql,
    values: parameters.map((value) => utils.prepareValue(value)),
  }))
  return new Promise((resolve, reject) => {
    const query = new pg.Query('', (error, results) => {
      if (error) reject(error)
      else resolve([results].flat() as unknown as pg.QueryResult[])
    })
    query.submit = (connection) => {
      // One write, so that the process cannot be stopped between two of them.
      connection.stream.cork()
      try {
        for (const { sql, values } of ready) put(connection, sql, values)
        connection.sync()
      } finally {
        connection.stream.uncork()
      }
    }
    client.query(query)
  })
}

function put(connection: pg.Connection, text: string, values: (string | Buffer | null)[]): void {
  connection.parse({ name: '', text, types: [] }, true)
  connection.bind({ values } as pg.BindConfig, true)
  connection.describe({ type: 'P', name: '' }, true)
  connection.execute({}, true)
}
