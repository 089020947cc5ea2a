import { connect } from 'node:net'
import mysql, { type Connection, type ConnectionOptions } from 'mysql2'
import type { SqlReach } from '../sql-source.ts'
import type { MysqlTarget } from './mysql-url.ts'

const CONNECT_MS = 15_000

/** A connection to an address that the guard has let pass; certificates are those of the name. */
export async function connectMysql(
  target: MysqlTarget,
  { addressOf }: Pick<SqlReach, 'addressOf'>,
): Promise<{ connection: Connection; port: number }> {
  const { host, port, user, password, database, ssl } = target
  const address = await addressOf(host, port)
  const socket = connect({ host: address, port, keepAlive: true, noDelay: true })
  const options: ConnectionOptions = {
    stream: () => socket,
    host,
    port,
    user,
    password,
    ...(database !== '' && { database }),
    ...(ssl && { ssl }),
    charset: 'utf8mb4',
    connectTimeout: CONNECT_MS,
    // Values as the server has them: every digit, and times without a guess at their zone.
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    rowsAsArray: true,
    // The server could otherwise ask for files of this machine.
    flags: ['-LOCAL_FILES'],
  }
  const connection = mysql.createConnection(options)
  // An error between two statements shows with the next one; without a listener it would end the process.
  connection.on('error', () => undefined)
  try {
    await new Promise<void>((resolve, reject) =>
      connection.connect((error) => (error ? reject(error) : resolve())),
    )
  } catch (error) {
    connection.destroy()
    throw error
  }
  return { connection, port: socket.localPort ?? 0 }
}
