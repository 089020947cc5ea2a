import { constants } from 'node:fs'
import { type FileHandle, rename } from 'node:fs/promises'
import {
  AppError,
  type Backoff,
  type Clock,
  counted,
  ERRORS,
  type FileScanner,
  isAppError,
  isRetryableAppError,
  metrics,
  openPlain,
  outageOf,
  toDiskError,
  withRetry,
} from '../../kernel/index.ts'
import type { HttpClient, HttpTimeouts } from '../../net/index.ts'
import type { AccountFolder } from './account-folder.ts'
import { type FileAnswer, readFileAnswer, StartOver, startOver } from './file-answer.ts'

export interface Wanted {
  url: string
  /** Final name, and the name of the part file until then. */
  name: string
  part: string
  /** Bytes that the part file already has, and what vouches for them. */
  have: number
  validator: string | null
  size: number | undefined
}

export interface Watch {
  signal: AbortSignal
  /** Bytes that came, or a negative number for bytes that were of no use. */
  onBytes(count: number): void
  onValidator(validator: string | null): void
  /** Asked once the size is known; false ends the download without a file. */
  wantsSize(size: number): boolean
}

export interface FileDownloaderOptions {
  attempts?: number
  backoff?: Backoff
  timeouts?: Partial<HttpTimeouts>
}

const BACKOFF: Backoff = { base: 300, factor: 3, max: 10_000, jitter: 0.2 }
/** Large files take hours; a server that stops sending is noticed by the pause between two pieces. */
const TIMEOUTS: Partial<HttpTimeouts> = { totalMs: 24 * 3_600_000 }
const NEW_PART = constants.O_WRONLY | constants.O_CREAT

export interface FileDownloaderDeps {
  net: HttpClient
  clock: Clock
  folder: AccountFolder
  /** Looks at a file before it has its final name; null: nobody does. */
  scanner?: FileScanner | null
}

/** Fetches single files: into a part file, to the disk, and only then under the final name. */
export class FileDownloader {
  readonly #deps: FileDownloaderDeps
  readonly #options: Required<FileDownloaderOptions>

  constructor(deps: FileDownloaderDeps, options: FileDownloaderOptions = {}) {
    this.#deps = deps
    this.#options = { attempts: 4, backoff: BACKOFF, timeouts: TIMEOUTS, ...options }
  }

  /** The size of the finished file, or null when it turned out not to be wanted. */
  async fetch(wanted: Wanted, watch: Watch): Promise<number | null> {
    const { clock, folder } = this.#deps
    const download = new Download(wanted, watch)
    try {
      const size = await withRetry(() => this.#attempt(download), {
        ...this.#options,
        clock,
        signal: watch.signal,
        maxRetryAfterMs: 60_000,
        // The whole run waits for the disk, not each file by itself.
        isRetryable: (error) => isRetryableAppError(error) && !outageOf(error),
      })
      if (size === null) await folder.remove(wanted.part)
      return size
    } catch (error) {
      download.forget()
      if (isAppError(error, ERRORS.FILE_REFUSED)) await folder.remove(wanted.part)
      throw error
    }
  }

  async #attempt(download: Download): Promise<number | null> {
    const { net, clock } = this.#deps
    const { wanted, watch } = download
    const response = await net.request({
      url: wanted.url,
      domain: 'runs',
      // Compressed bytes cannot be continued, and their length says nothing about the file's.
      headers: { 'accept-encoding': 'identity', ...download.rangeHeaders() },
      signal: watch.signal,
      timeouts: this.#options.timeouts,
    })
    try {
      const answer = readFileAnswer(response, download.have, clock.now())
      download.check(answer)
      if (answer.total !== undefined && !watch.wantsSize(answer.total)) return this.#unwanted(download)
      return await this.#store(download, answer, response.body)
    } catch (error) {
      if (error instanceof StartOver) download.forget()
      throw toDiskError(error, `store ${wanted.name}`)
    } finally {
      response.body.destroy()
    }
  }

  async #store(
    download: Download,
    answer: FileAnswer,
    body: AsyncIterable<Uint8Array>,
  ): Promise<number | null> {
    const { folder } = this.#deps
    const { wanted, watch } = download
    const part = folder.file(wanted.part)
    const handle = await openPlain(part, NEW_PART)
    if (!handle)
      throw new AppError(ERRORS.ACCOUNT_FOLDER_UNSAFE, `${part} is no plain file`, { retryable: false })
    try {
      if (answer.from < download.have) download.forget()
      if (answer.from === 0 && download.touched) await handle.truncate(0)
      download.begin(answer)
      for await (const chunk of body) {
        await writeAll(handle, chunk, download.have)
        download.took(chunk.byteLength)
      }
      download.checkWhole()
      if (!watch.wantsSize(download.have)) return this.#unwanted(download)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await this.#deps.scanner?.scan(part, watch.signal)
    await rename(part, folder.file(wanted.name))
    return download.have
  }

  #unwanted(download: Download): null {
    download.forget()
    return null
  }
}

/** The bytes of one file while they come in, over all tries. */
class Download {
  readonly wanted: Wanted
  readonly watch: Watch
  /** True if the part file may hold bytes already. */
  touched: boolean
  #have: number
  #validator: string | null
  #total: number | undefined

  constructor(wanted: Wanted, watch: Watch) {
    this.wanted = wanted
    this.watch = watch
    this.touched = true
    this.#have = wanted.have
    this.#validator = wanted.validator
    this.#total = wanted.size
    if (wanted.have > 0) watch.onBytes(wanted.have)
    else this.touched = false
  }

  get have(): number {
    return this.#have
  }

  /** Asks for the rest only if the server can prove that it is of the same file. */
  rangeHeaders(): Record<string, string> {
    if (this.#have > 0 && this.#validator === null && this.#total === undefined) this.forget()
    if (this.#have === 0) return {}
    const range = { range: `bytes=${this.#have}-` }
    return this.#validator === null ? range : { ...range, 'if-range': this.#validator }
  }

  check({ from, total }: FileAnswer): void {
    const { size } = this.wanted
    if (total === undefined) return
    if (size !== undefined && total !== size)
      throw incomplete(`it has ${counted(total, 'byte')}, the feed says ${size}`)
    if (from > 0 && this.#total !== undefined && this.#total !== total) throw startOver('it has changed')
  }

  begin({ total, validator }: FileAnswer): void {
    this.touched = true
    this.#total = total ?? this.wanted.size
    if (validator !== this.#validator) this.watch.onValidator(validator)
    this.#validator = validator
  }

  took(count: number): void {
    metrics.bytesRead.inc({ domain: 'runs' }, count)
    this.#have += count
    this.watch.onBytes(count)
    if (this.#total !== undefined && this.#have > this.#total)
      throw incomplete(`it has more than ${counted(this.#total, 'byte')}`)
  }

  checkWhole(): void {
    if (this.#total !== undefined && this.#have !== this.#total)
      throw incomplete(`${this.#have} of ${counted(this.#total, 'byte')} came`)
  }

  forget(): void {
    if (this.#have > 0) this.watch.onBytes(-this.#have)
    this.#have = 0
  }
}

function incomplete(why: string): StartOver {
  return new StartOver(ERRORS.FILE_INCOMPLETE, `the file is not whole: ${why}`)
}

async function writeAll(handle: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < chunk.byteLength; ) {
    const { bytesWritten } = await handle.write(
      chunk,
      written,
      chunk.byteLength - written,
      position + written,
    )
    written += bytesWritten
  }
}
