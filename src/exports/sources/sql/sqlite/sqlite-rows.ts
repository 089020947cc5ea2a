import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { AppError, ERRORS, ownOutageOf, startNode } from '../../../../kernel/index.ts'
import { neighbour } from '../../../threads/index.ts'
import type { TextPage } from '../../pages/index.ts'
import { refuseTwins, silent } from '../sql-error.ts'
import { SILENCE_MS } from '../sql-pages.ts'
import type { SqlReach, SqlRows, SqlSource } from '../sql-source.ts'
import { readFrames, type SqliteFailure, type SqliteFrame, type SqliteTask } from './sqlite-frames.ts'

/** Runs a query on a file that is opened for reading only, in a process of its own. One statement of SQLite sees one snapshot. */
export async function openSqliteRows(
  { query, params = [] }: Pick<SqlSource, 'query' | 'params'>,
  { url: path, signal, silenceMs }: SqlReach,
): Promise<SqlRows> {
  const reader = new SqliteReader({ path, query, params }, signal, silenceMs)
  try {
    const first = await reader.next()
    const columns = first.kind === 'columns' ? first.columns : []
    refuseTwins(columns)
    return { columns, pages: () => reader.pages(), close: () => reader.close() }
  } catch (error) {
    await reader.close()
    throw error
  }
}

/** Opens the file and closes it again. */
export async function testSqlite({ url: path, signal }: SqlReach): Promise<void> {
  const reader = new SqliteReader({ path, query: null, params: [] }, signal)
  try {
    await reader.next()
  } finally {
    await reader.close()
  }
}

class SqliteReader {
  readonly #signal: AbortSignal
  readonly #child: ReturnType<typeof startNode>
  readonly #frames: AsyncGenerator<SqliteFrame, void>
  readonly #gone: Promise<unknown>
  readonly #unfollow: () => void
  readonly #silenceMs: number
  #reason: unknown

  constructor(task: SqliteTask, signal: AbortSignal, silenceMs = SILENCE_MS) {
    signal.throwIfAborted()
    this.#silenceMs = silenceMs
    this.#signal = signal
    this.#child = startNode(neighbour(import.meta.url, 'sqlite-child'))
    this.#gone = once(this.#child, 'close').catch((error: unknown) => {
      this.#reason ??=
        ownOutageOf(error) ??
        new AppError(ERRORS.SOURCE_UNREACHABLE, 'no process to read the file could be started', {
          cause: error,
        })
    })
    this.#child.stdin!.on('error', () => undefined) // it is gone, which its frames show
    this.#child.stdin!.write(`${JSON.stringify(task)}\n`)
    this.#frames = readFrames(this.#child.stdio[3] as Readable)
    const cut = () => this.#end(signal.reason)
    signal.addEventListener('abort', cut)
    this.#unfollow = () => signal.removeEventListener('abort', cut)
  }

  /** The next frame; a failure is thrown. */
  async next(): Promise<SqliteFrame> {
    const silence = setTimeout(() => this.#end(silent(this.#silenceMs)), this.#silenceMs)
    let frame: IteratorResult<SqliteFrame, void>
    try {
      frame = await this.#frames.next()
    } finally {
      clearTimeout(silence)
    }
    if (this.#reason !== undefined) throw this.#reason
    if (frame.done) {
      await this.#gone
      this.#signal.throwIfAborted()
      throw (
        this.#reason ?? new AppError(ERRORS.SOURCE_UNREACHABLE, 'the process that reads the file has ended')
      )
    }
    if (frame.value.kind === 'failure') throw errorOf(frame.value.failure)
    return frame.value
  }

  async *pages(): AsyncIterable<TextPage> {
    for (;;) {
      const frame = await this.next()
      if (frame.kind === 'end') return
      if (frame.kind === 'page') yield frame
    }
  }

  async close(): Promise<void> {
    this.#unfollow()
    this.#child.kill('SIGKILL')
    ;(this.#child.stdio[3] as Readable).destroy()
    await this.#gone
  }

  #end(reason: unknown): void {
    this.#reason ??= reason
    this.#child.kill('SIGKILL')
  }
}

function errorOf({ code, message, retryable }: SqliteFailure): AppError {
  return new AppError(ERRORS[code], message, { retryable })
}
