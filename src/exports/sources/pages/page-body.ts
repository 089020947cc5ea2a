import { AppError, counted, ERRORS } from '../../../kernel/index.ts'
import type { PageAnswer } from './page-source.ts'

const FIRST_SIZE = 64 * 1024
const KEEP_SIZE = 4 * 1024 * 1024

/** Bytes after a page: a zero byte, which the scanners stop at, and three more, because some read words. */
export const PAGE_MARGIN = 4

export interface FillOptions {
  page: number
  /** A body larger than this is refused. */
  limit: number
  signal: AbortSignal
  /** Hears of the bytes as they come. */
  arrived?(bytes: number): void
}

/** A buffer for one page after the other, followed by the margin. */
export class PageBody {
  bytes: Buffer = Buffer.alloc(0)
  length = 0

  static ofText(text: string): PageBody {
    const body = new PageBody()
    body.length = Buffer.byteLength(text)
    body.bytes = Buffer.allocUnsafeSlow(body.length + PAGE_MARGIN)
    body.bytes.write(text)
    body.bytes.fill(0, body.length)
    return body
  }

  /** Reads the whole body. A reader whose signal has aborted writes nothing more, so the buffer can be used again. */
  async fill(body: PageAnswer['body'], { page, limit, signal, arrived }: FillOptions): Promise<void> {
    this.length = 0
    if (this.bytes.length > KEEP_SIZE) this.bytes = Buffer.alloc(0)
    for await (const chunk of body) {
      signal.throwIfAborted()
      if (this.length + chunk.length > limit)
        throw new AppError(
          ERRORS.SOURCE_PAGE_TOO_LARGE,
          `page ${page} is larger than ${counted(limit, 'byte')}, a smaller page_size may help`,
          { retryable: false, details: { page, limit } },
        )
      this.#reserve(this.length + chunk.length + PAGE_MARGIN)
      this.bytes.set(chunk, this.length)
      this.length += chunk.length
      arrived?.(chunk.length)
    }
    signal.throwIfAborted()
    this.#reserve(this.length + PAGE_MARGIN)
    this.bytes[this.length] = 0
  }

  #reserve(size: number): void {
    if (this.bytes.length >= size) return
    const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_SIZE, size, this.bytes.length * 2))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
  }
}

/** Releases an answer that is not read. */
export async function discard(body: PageAnswer['body']): Promise<void> {
  await body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined)
}
