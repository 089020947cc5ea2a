import { Readable } from 'node:stream'
import { AppError, type Deadline, ERRORS, messageOf, type SecretMask } from '../../kernel/index.ts'
import { toHttpError } from '../http-error.ts'

/** Read ahead of the reader: pausing and resuming a connection for each piece costs more than the memory. */
const AHEAD = 512 * 1024

/**
 * The body of an answer as callers get it: its errors name the host, and its end, whichever way it comes, ends the watch
 * and frees the connection. A class with listeners, because a chain of iterators costs as much as parsing the answer.
 */
export class AnswerBody extends Readable {
  readonly #source: Readable
  readonly #url: URL
  readonly #deadline: Deadline
  readonly #mask: SecretMask
  #listens = false

  constructor(source: Readable, { url, deadline, mask }: { url: URL; deadline: Deadline; mask: SecretMask }) {
    super({ highWaterMark: AHEAD })
    this.#source = source
    this.#url = url
    this.#deadline = deadline
    this.#mask = mask
  }

  override _read(): void {
    if (this.#listens) {
      this.#source.resume()
      return
    }
    this.#listens = true
    this.#source
      .on('data', (chunk: Buffer) => {
        if (!this.push(chunk)) this.#source.pause()
      })
      .once('end', () => this.#end())
      .once('error', (error) => this.#fail(error))
      .once('close', () => this.#closed())
    if (this.#source.errored) this.#fail(this.#source.errored)
    else if (this.#source.closed) this.#closed()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#deadline.clear()
    // There is no listener any more, and an error of an answer that was cut short must not end the process.
    this.#source.on('error', () => undefined).destroy()
    done(error)
  }

  #end(): void {
    // undici frees the connection one turn after the last byte; a next request before that would open another one.
    setImmediate(() => {
      if (!this.destroyed) this.push(null)
    })
  }

  #fail(cause: unknown): void {
    const error = this.#mask.error(toHttpError(cause, this.#url, this.#deadline.signal))
    this.destroy(error instanceof Error ? error : new Error(messageOf(error)))
  }

  #closed(): void {
    if (this.#source.readableEnded || this.destroyed) return
    this.#fail(new AppError(ERRORS.CONNECTION_LOST, `${this.#url.host}: the answer was cut short`))
  }
}
