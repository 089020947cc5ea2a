import { rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, type FileAccess, isErrno, type Log, openPlain, openShared } from '../../kernel/index.ts'

export interface LogLine {
  /** Milliseconds since 1970, by the clock of the processor. */
  at: number
  stream: 'stdout' | 'stderr'
  line: string
}

export interface TaskLog {
  lines: LogLine[]
  /** Lines between the first ones and the last ones that are not kept. */
  leftOut: number
}

const NAME = 'process.log'
const FIRST_LINES = 100
const LAST_LINES = 400
const LINE_CHARACTERS = 2_000
/** More than the lines that are kept can take. */
const MOST_BYTES = 8 * 1024 * 1024
const WRITE_EVERY_MS = 1_000

/**
 * What the command of a task prints, in the folder of the task: its beginning and its end, over all attempts. Kept as well
 * as possible: a log that cannot be written fails no task.
 */
export class TaskLogWriter {
  readonly #path: string
  readonly #options: { access: FileAccess; clock: Pick<Clock, 'now'>; log: Log }
  readonly #first: LogLine[]
  readonly #last: LogLine[]
  #leftOut: number
  #written = 0
  #writing: Promise<void> = Promise.resolve()

  private constructor(
    folder: string,
    { lines, leftOut }: TaskLog,
    options: { access: FileAccess; clock: Pick<Clock, 'now'>; log: Log },
  ) {
    this.#path = join(folder, NAME)
    this.#options = options
    this.#first = lines.slice(0, FIRST_LINES)
    this.#last = lines.slice(FIRST_LINES)
    this.#leftOut = leftOut
  }

  static async open(
    folder: string,
    options: { access: FileAccess; clock: Pick<Clock, 'now'>; log: Log },
  ): Promise<TaskLogWriter> {
    const before = await readLog(join(folder, NAME)).catch(() => EMPTY)
    return new TaskLogWriter(folder, before, options)
  }

  line(stream: LogLine['stream'], text: string): void {
    const at = this.#options.clock.now()
    const line = { at, stream, line: text.slice(0, LINE_CHARACTERS) }
    if (this.#first.length < FIRST_LINES) this.#first.push(line)
    else this.#last.push(line)
    if (this.#last.length > LAST_LINES) {
      this.#last.shift()
      this.#leftOut++
    }
    if (at - this.#written < WRITE_EVERY_MS) return
    this.#written = at
    this.#writing = this.#writing.then(() => this.#write())
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    await this.#writing
    if (this.#first.length > 0) await this.#write()
  }

  async #write(): Promise<void> {
    const { access, log } = this.#options
    const rows = [{ leftOut: this.#leftOut }, ...this.#first, ...this.#last]
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    try {
      // A new file each time: the command may have put anything in the place of the last one.
      const next = `${this.#path}.new`
      await rm(next, { force: true })
      const file = await openShared(next, 'wx', access)
      try {
        await file.writeFile(text)
      } finally {
        await file.close()
      }
      await rename(next, this.#path)
    } catch (err) {
      log.debug({ err }, 'the log of a task was not written')
    }
  }
}

const EMPTY: TaskLog = { lines: [], leftOut: 0 }

/** The log of a task; empty where its processor keeps none. */
export async function readTaskLog(storage: string, taskId: string): Promise<TaskLog> {
  return isFolderName(taskId) ? readLog(join(storage, taskId, NAME)) : EMPTY
}

/** Ids come from a store that other programs write to: one that is no name would lead out of the storage. */
export function isFolderName(taskId: string): boolean {
  return basename(taskId) === taskId && !['', '.', '..'].includes(taskId) && !taskId.includes('\0')
}

async function readLog(path: string): Promise<TaskLog> {
  const file = await openPlain(path).catch((error) => {
    if (isErrno(error, 'EACCES')) return undefined
    throw error
  })
  if (!file) return EMPTY
  try {
    if ((await file.stat()).size > MOST_BYTES) return EMPTY
    return parse(await file.readFile('utf8'))
  } finally {
    await file.close()
  }
}

/** Its last line may be half written, and the folder is shared with other programs. */
function parse(text: string): TaskLog {
  const log: TaskLog = { lines: [], leftOut: 0 }
  for (const row of text.split('\n')) {
    try {
      const { leftOut, at, stream, line } = JSON.parse(row) as Partial<LogLine> & { leftOut?: number }
      if (Number.isSafeInteger(leftOut)) log.leftOut = Math.max(0, leftOut as number)
      const known = stream === 'stdout' || stream === 'stderr'
      if (known && typeof line === 'string' && typeof at === 'number' && Math.abs(at) <= 8.64e15)
        log.lines.push({ at, stream, line: line.slice(0, LINE_CHARACTERS) })
    } catch {}
    if (log.lines.length === FIRST_LINES + LAST_LINES) break
  }
  return log
}
