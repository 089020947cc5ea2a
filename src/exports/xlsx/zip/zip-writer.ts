import type { FileHandle } from 'node:fs/promises'
import { AppError, ERRORS, openFile } from '../../../kernel/index.ts'
import {
  centralHeader,
  endOfDirectory,
  localHeader,
  ZIP_LIMIT,
  ZIP_MAX_ENTRIES,
  type ZipEntry,
} from './zip-record.ts'

/**
 * Writes one archive, entry after entry. Each entry's header is written twice, first as a place holder, then with the
 * sums: readers that cannot cope with data descriptors get a plain archive.
 */
export class ZipWriter {
  readonly #file: FileHandle
  readonly #entries: ZipEntry[] = []
  #position = 0
  #open: ZipEntry | undefined

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async create(path: string): Promise<ZipWriter> {
    return new ZipWriter(await openFile(path, 'w'))
  }

  /** Bytes written so far. */
  get bytes(): number {
    return this.#position
  }

  async begin(name: string, method: 0 | 8): Promise<void> {
    if (this.#entries.length === ZIP_MAX_ENTRIES) throw tooLarge(`more than ${ZIP_MAX_ENTRIES} entries`)
    this.#open = { name, offset: this.#position, method, crc: 0, compressed: 0, size: 0 }
    await this.#write([localHeader(this.#open)])
  }

  async append(chunks: Uint8Array[]): Promise<void> {
    const before = this.#position
    await this.#write(chunks)
    this.#open!.compressed += this.#position - before
  }

  async end(crc: number, size: number): Promise<void> {
    const entry = this.#open!
    entry.crc = crc
    entry.size = size
    if (size >= ZIP_LIMIT) throw tooLarge(`${entry.name} has ${size} bytes`)
    const header = localHeader(entry)
    await this.#file.write(header, 0, header.length, entry.offset)
    this.#entries.push(entry)
    this.#open = undefined
  }

  async finish(): Promise<void> {
    const headers = this.#entries.map(centralHeader)
    const offset = this.#position
    await this.#write(headers)
    await this.#write([endOfDirectory(headers.length, this.#position - offset, offset)])
    await this.#file.close()
  }

  /** Gives the file up; safe to call at any moment. */
  async close(): Promise<void> {
    await this.#file.close().catch(() => undefined)
  }

  async #write(chunks: Uint8Array[]): Promise<void> {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    if (this.#position + bytes >= ZIP_LIMIT) throw tooLarge('4 GiB reached')
    let rest = chunks.filter((chunk) => chunk.length > 0)
    while (rest.length > 0) {
      const { bytesWritten } = await this.#file.writev(rest, this.#position)
      this.#position += bytesWritten
      rest = dropBytes(rest, bytesWritten)
    }
  }
}

function dropBytes(chunks: Uint8Array[], count: number): Uint8Array[] {
  let left = count
  let index = 0
  while (index < chunks.length && left >= chunks[index]!.length) {
    left -= chunks[index]!.length
    index += 1
  }
  const rest = chunks.slice(index)
  if (left > 0) rest[0] = rest[0]!.subarray(left)
  return rest
}

function tooLarge(reason: string): AppError {
  return new AppError(ERRORS.EXPORT_ARCHIVE_TOO_LARGE, `a zip archive cannot hold this: ${reason}`, {
    retryable: false,
  })
}
