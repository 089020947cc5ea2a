import { type FileHandle, realpath } from 'node:fs/promises'
import { basename, extname, join, resolve, sep } from 'node:path'
import { AppError, ERRORS, isErrno, openPlain } from '../../kernel/index.ts'
import { type ByteRange, clampRange } from '../../storage/index.ts'

export interface ResultFile {
  /** The caller closes it, or the stream that is made of it. */
  handle: FileHandle
  size: number
  modifiedAt: number
  /** A strong entity tag with its quotes. */
  etag: string
  contentType: string
  name: string
}

const CONTENT_TYPES: Record<string, string> = {
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.mov': 'video/quicktime',
  '.mkv': 'video/matroska',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain; charset=utf-8',
}

/** Opens results. A processor may write any path into its record, but only files in the folder of its task are handed out. */
export class ResultFiles {
  readonly #storage: string
  readonly #elsewhere: string

  constructor(storage: string, elsewhere = '') {
    this.#storage = storage
    this.#elsewhere = elsewhere
  }

  async open(taskId: string, resultPath: string): Promise<ResultFile> {
    const isOwn = (path: string) => path.startsWith(join(this.#storage, taskId) + sep)
    const real = await realpath(resultPath).catch((cause) => {
      // The folder of another instance may be called otherwise.
      const maybeOwn = isOwn(resolve(resultPath)) || this.#elsewhere !== ''
      throw maybeOwn ? this.#gone(taskId, cause) : notOwn(taskId)
    })
    if (!isOwn(real)) throw notOwn(taskId)
    const handle = await openPlain(real).catch((cause) => {
      throw isErrno(cause, 'EACCES') ? this.#gone(taskId, cause) : cause
    })
    if (!handle) throw notOwn(taskId)
    const stat = await handle.stat()
    return {
      handle,
      size: stat.size,
      modifiedAt: stat.mtimeMs,
      etag: `"${stat.ino.toString(36)}-${stat.size.toString(36)}-${Math.round(stat.mtimeMs).toString(36)}"`,
      contentType: CONTENT_TYPES[extname(real).toLowerCase()] ?? 'application/octet-stream',
      name: basename(real),
    }
  }

  async stat(taskId: string, resultPath: string): Promise<Omit<ResultFile, 'handle'>> {
    const { handle, ...facts } = await this.open(taskId, resultPath)
    await handle.close()
    return facts
  }

  /** The bytes, or a range of them. The stream closes the file. */
  async read(taskId: string, resultPath: string, wanted?: ByteRange) {
    const { handle, ...facts } = await this.open(taskId, resultPath)
    try {
      const range = wanted ? clampRange(wanted, facts.size) : null
      return { ...facts, range, stream: handle.createReadStream(range ?? {}) }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  #gone(taskId: string, cause?: unknown): AppError {
    const message = `the result of task ${taskId} is gone${this.#elsewhere}`
    return new AppError(ERRORS.TASK_WITHOUT_RESULT, message, { cause })
  }
}

function notOwn(taskId: string): AppError {
  const message = `the processor of task ${taskId} named a result that is not handed out: it is no plain file in the folder of the task`
  return new AppError(ERRORS.TASK_WITHOUT_RESULT, message)
}
