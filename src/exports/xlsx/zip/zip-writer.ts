import type { FileHandle } from 'node:fs/promises'
import { openFile } from '../../../kernel/index.ts'
import { centralHeader, endOfDirectory, localHeader, ZIP_LIMIT, type ZipEntry } from './zip-record.ts'

/**
 * Writes one archive, entry after entry. Each entry's header is written twice, first as a place holder, then with the
 * sums: readers that cannot cope with data descriptors get a plain archive. One beyond 4 GiB is a zip64 archive.
 */
export class ZipWriter {
  readonly #file: FileHandle
  readonly #limit: number
  readonly #entries: ZipEntry[] = []
  #position = 0
  #open: ZipEntry | undefined

  private constructor(file: FileHandle, limit: number) {
    this.#file = file
    this.#limit = limit
  }

  /** Sizes and offsets from `limit` on are written as zip64. */
  static async create(path: string, { limit = ZIP_LIMIT } = {}): Promise<ZipWriter> {
    return new ZipWriter(await openFile(path, 'w'), limit)
  }

  /** Bytes written so far. */
  get bytes(): number {
    return this.#position
  }

  /** `size` is what the entry may have at most, as far as that is known: sizes of 64 bits need more room before it. */
  async begin(name: string, method: 0 | 8, size = 0): Promise<void> {
    const large = size >= this.#limit
    this.#open = { name, offset: this.#position, method, crc: 0, compressed: 0, size: 0, large }
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
    if (!entry.large && Math.max(size, entry.compressed) >= this.#limit)
      throw new RangeError(`${entry.name} has ${size} bytes, and no room for such a size`)
    const header = localHeader(entry)
    await this.#file.write(header, 0, header.length, entry.offset)
    this.#entries.push(entry)
    this.#open = undefined
  }

  async finish(): Promise<void> {
    const headers = this.#entries.map((entry) => centralHeader(entry, this.#limit))
    const offset = this.#position
    await this.#write(headers)
    const directory = { entries: headers.length, bytes: this.#position - offset, offset }
    await this.#write([endOfDirectory(directory, this.#limit)])
    await this.#file.close()
  }

  /** Gives the file up; safe to call at any moment. */
  async close(): Promise<void> {
    await this.#file.close().catch(() => undefined)
  }

  async #write(chunks: Uint8Array[]): Promise<void> {
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
