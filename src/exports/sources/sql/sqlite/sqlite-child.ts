import { readSync, statSync, writeSync } from 'node:fs'
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { AppError, ERRORS, isAppError } from '../../../../kernel/index.ts'
import { beginsAsQuery, notReading, oneTooMany, wrongParams } from '../sql-error.ts'
import { hexJson, PageGatherer, type SqlColumn } from '../sql-pages.ts'
import { frameOf, type SqliteFailure, type SqliteTask } from './sqlite-frames.ts'

// A process of its own, because SQLite runs a query in one go and Node cannot interrupt it: this one can be killed at any moment.
// Frames go out synchronously, so that it reads no further ahead than the pipe is long.

const OUT = 3
const BUSY_MS = 30_000
/** Of one value. */
const MOST_BYTES = 256 * 1024 * 1024

function refusal(code: SqliteFailure['code'], message: string): AppError {
  return new AppError(ERRORS[code], message, { retryable: false })
}

function main(): void {
  const task = JSON.parse(readLine()) as SqliteTask
  dieWithParent()
  try {
    read(task)
    send(frameOf('end'))
  } catch (error) {
    send(frameOf('failure', JSON.stringify(failureOf(error))))
  }
}

function read({ path, query, params }: SqliteTask): void {
  const database = open(path)
  if (query === null) return
  lockDown(database)
  const statement = prepared(database, query)
  if (isMore(query.slice(statement.sourceSQL.length))) throw oneTooMany()
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  const columns = statement.columns().map(({ name, type }) => sqliteColumn({ name: String(name), type }))
  if (columns.length === 0) throw notReading(query)
  checkParams(statement, query, params.length)
  const rows = statement.iterate(...params.map(bound)) as unknown as Iterator<(SqliteValue | null)[]>
  // The snapshot is that of the first step: a caller that has the columns can rely on it.
  let row = rows.next()
  send(frameOf('columns', JSON.stringify(columns.map(({ name, type }) => ({ name, type })))))
  const gatherer = new PageGatherer(columns)
  for (; !row.done; row = rows.next()) {
    const page = gatherer.add(row.value)
    if (page) send(frameOf('page', page.text, page.rows))
  }
  const rest = gatherer.rest()
  if (rest) send(frameOf('page', rest.text, rest.rows))
}

const [SYNTAX, DENIED] = [1, 23]

function prepared(database: DatabaseSync, query: string): StatementSync {
  try {
    return database.prepare(query)
  } catch (error) {
    const { errcode = SYNTAX } = error as { errcode?: number }
    const isOther = (errcode === SYNTAX || errcode === DENIED) && !beginsAsQuery(query)
    throw isOther ? notReading(query) : error
  }
}

/** What `node:sqlite` leaves unbound is NULL without a word, and only placeholders without a name take values by their place. */
function checkParams(statement: StatementSync, query: string, params: number): void {
  const named = [...query.matchAll(TOKEN)].find(([token]) => PLACEHOLDER_NAME.test(token))
  if (named)
    throw refusal(
      'QUERY_FAILED',
      `the query has the placeholder ${named[0]}; SQLite takes ? for each of the params`,
    )
  const placeholders = countPlaceholders(statement)
  if (placeholders !== params) throw wrongParams(placeholders, params)
}

/** Texts, names in quotes and comments are tokens of their own, so that nothing inside of them is taken for a placeholder. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[?:@#$]?[\w$\u0080-\uffff]+/g
const PLACEHOLDER_NAME = /^(?:\?\d|[:@#$][\w\u0080-\uffff])/
const OUT_OF_RANGE = 25

/** Binding one value too many fails, and nothing is run before the first step. */
function countPlaceholders(statement: StatementSync): number {
  let [fits, fails] = [0, 1]
  const takes = (count: number) => {
    try {
      statement.iterate(...Array<null>(count).fill(null))
      return true
    } catch (error) {
      if ((error as { errcode?: number }).errcode === OUT_OF_RANGE) return false
      throw error
    }
  }
  for (; takes(fails); fails *= 2) fits = fails
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2)
    if (takes(middle)) fits = middle
    else fails = middle
  }
  return fits
}

function open(path: string): DatabaseSync {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw refusal('SOURCE_UNREACHABLE', 'the database file does not exist')
  if (!found.isFile()) throw refusal('CONNECTION_REFUSED', 'the path of the database is no file')
  const limits = { attach: 0, length: MOST_BYTES }
  const options = { readOnly: true, timeout: BUSY_MS, allowExtension: false, limits }
  const database = new DatabaseSync(path, options)
  // The first look also shows whether it is a database.
  const tables = database
    .prepare("select name from sqlite_master where name in ('schema_versions', 'export_files', 'lane_turns')")
    .all()
  if (tables.length === 3)
    throw refusal('CONNECTION_REFUSED', 'the database is a ledger of Wharf; exports may not read it')
  return database
}

/** From here on a statement may read tables and call functions, and nothing else: no ATTACH, no PRAGMA, no extension, no write. */
function lockDown(database: DatabaseSync): void {
  if (typeof database.setAuthorizer !== 'function')
    throw refusal('CONNECTION_REFUSED', 'SQLite files need Node 24.10 or later')
  database.enableDefensive?.(true)
  const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE, SQLITE_FUNCTION } = constants
  const reading = new Set([SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE])
  database.setAuthorizer((action, _table, name) => {
    if (reading.has(action)) return SQLITE_OK
    return action === SQLITE_FUNCTION && name !== 'load_extension' ? SQLITE_OK : SQLITE_DENY
  })
}

/** Whether there is more than blanks and comments. */
function isMore(rest: string): boolean {
  return rest.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').replace(/[\s;]/g, '') !== ''
}

function bound(value: SqliteTask['params'][number]): null | number | bigint | string {
  if (typeof value === 'boolean') return value ? 1n : 0n
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
}

function failureOf(error: unknown): SqliteFailure {
  if (isAppError(error))
    return { code: error.code as SqliteFailure['code'], message: error.message, retryable: error.retryable }
  const { message, errcode = 1 } = error as { message: string; errcode?: number }
  const primary = errcode & 0xff
  const says = `the database says: ${message}`
  if (primary === 26)
    return { code: 'CONNECTION_REFUSED', message: 'the file is no SQLite database', retryable: false }
  // An error of the disk, or a file that cannot be opened.
  if (primary === 10 || primary === 14) return { code: 'SOURCE_UNREACHABLE', message: says, retryable: true }
  // Busy or locked.
  return { code: 'QUERY_FAILED', message: says, retryable: primary === 5 || primary === 6 }
}

function readLine(): string {
  const chunk = Buffer.alloc(65_536)
  const chunks: Buffer[] = []
  for (;;) {
    const length = readSync(0, chunk)
    if (length === 0) throw new Error('nothing was asked')
    chunks.push(Buffer.from(chunk.subarray(0, length)))
    if (chunk[length - 1] === 0x0a) return Buffer.concat(chunks).toString()
  }
}

/** While a query runs, nothing else does in its thread. The other end of standard input is closed when the parent is gone. */
function dieWithParent(): void {
  const code = `
    try { while (require('node:fs').readSync(0, Buffer.alloc(1)) > 0); } catch {}
    process.kill(process.pid, 'SIGKILL')`
  new Worker(code, { eval: true })
}

function send(frame: Buffer): void {
  for (let at = 0; at < frame.length; ) {
    try {
      at += writeSync(OUT, frame, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') process.exit(1)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

type SqliteValue = bigint | number | string | Uint8Array

/** What was declared decides on the type only where SQLite makes values fit it. Dates, for one, may be texts or numbers of any kind. */
const BY_AFFINITY: readonly [RegExp, string][] = [
  [/int/i, 'integer'],
  [/char|clob|text|json/i, 'string'],
  [/real|floa|doub|dec|num/i, 'number'],
  [/^date$/i, 'date'],
  [/^(?:datetime|timestamp)/i, 'datetime'],
]

function sqliteColumn({ name, type }: { name: string; type: string | null }): SqlColumn<SqliteValue> {
  const found = BY_AFFINITY.find(([form]) => form.test(type ?? ''))
  return { name, type: found?.[1] ?? null, json }
}

/** Each value has a type of its own. */
function json(value: SqliteValue): string {
  switch (typeof value) {
    case 'bigint':
      return value.toString()
    case 'number':
      return Number.isFinite(value) ? String(value) : `"${value}"`
    case 'string':
      return JSON.stringify(value)
    default:
      return hexJson(value)
  }
}

main()
