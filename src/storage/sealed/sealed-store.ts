import { hkdfSync, randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { AppError, ERRORS, isAppError } from '../../kernel/index.ts'
import type {
  ArtifactSource,
  ArtifactStat,
  ArtifactStore,
  ListedArtifact,
  OpenedArtifact,
  OpenOptions,
  PutOptions,
  StoredArtifact,
  StoreHealth,
} from '../artifact-store.ts'
import { clampRange } from '../byte-range.ts'
import { Hashed } from '../hashed.ts'
import { openBytes, sealBytes } from './sealed-bytes.ts'
import {
  CHUNK_BYTES,
  damaged,
  fileKey,
  HEADER_BYTES,
  layoutOf,
  placeOf,
  SALT_BYTES,
  saltOf,
} from './sealed-format.ts'

export interface SealedStoreOptions {
  /** WHARF_SEAL_KEY */
  sealKey: string
  /** false: what was encrypted stays readable, what comes is stored as it is. */
  encrypt: boolean
}

/** A file that was proved to be whole, so that the next range of it costs one request. */
interface Known {
  etag: string
  key: Buffer
  records: number
  size: number
}

/** The content type of an encrypted file, with that of the file itself: it distinguishes the two kinds of files. */
const SEALED_TYPE = 'application/vnd.wharf.sealed; of='
const MOST_KNOWN = 1_000
const TRIES = 10

/**
 * A store whose files are encrypted, whatever keeps them; `sealed-format.ts` says how. Files that were stored before are read as they
 * are. A range costs the records that it touches.
 */
export class SealedStore implements ArtifactStore {
  readonly #inner: ArtifactStore
  readonly #master: Buffer
  readonly #encrypt: boolean
  readonly #known = new Map<string, Known>()

  constructor(inner: ArtifactStore, { sealKey, encrypt }: SealedStoreOptions) {
    this.#inner = inner
    this.#master = Buffer.from(hkdfSync('sha256', sealKey, '', 'wharf files v1', 32))
    this.#encrypt = encrypt
  }

  async put(key: string, source: ArtifactSource, options: PutOptions): Promise<StoredArtifact> {
    if (!this.#encrypt) return this.#inner.put(key, source, options)
    const { move = false, ...rest } = options
    const hashed = new Hashed(source, options.signal)
    const salt = randomBytes(SALT_BYTES)
    const sealed = sealBytes(hashed, { key: fileKey(this.#master, salt, key), salt })
    const contentType = SEALED_TYPE + encodeURIComponent(options.contentType)
    const { etag } = await this.#inner.put(key, sealed, { ...rest, contentType })
    if (move && 'path' in source) await rm(source.path, { force: true })
    return { size: hashed.size, sha256: hashed.sha256(), etag }
  }

  async open(key: string, options: OpenOptions = {}): Promise<OpenedArtifact> {
    if (options.range === undefined) return this.#openWhole(key, options)
    for (let tries = 1; ; tries++) {
      const before = this.#known.get(key)
      const known = before ?? (await this.#meet(key, options))
      if ('stream' in known) return known
      const opened = await this.#openRange(key, known, options).catch((error: unknown) => {
        // What replaced the file that is known may have this range.
        if (before && isAppError(error, ERRORS.RANGE_NOT_SATISFIABLE)) return undefined
        throw error
      })
      if (opened) return opened
      this.#known.delete(key)
      if (tries === TRIES) throw new AppError(ERRORS.STORAGE_UNAVAILABLE, `${key} is replaced all the time`)
    }
  }

  async stat(key: string): Promise<ArtifactStat | null> {
    const stat = await this.#inner.stat(key)
    return stat && plainStat(stat)
  }

  async delete(key: string): Promise<void> {
    this.#known.delete(key)
    await this.#inner.delete(key)
  }

  list(prefix: string): AsyncIterable<ListedArtifact> {
    return this.#inner.list(prefix)
  }

  /** Nobody but Wharf can decrypt a file, so an encrypted one has no address of its own. */
  async publicUrl(key: string): Promise<string | null> {
    const address = await this.#inner.publicUrl(key)
    if (address === null) return null
    const stat = await this.#inner.stat(key)
    return stat && isSealed(stat) ? null : address
  }

  healthy(signal?: AbortSignal): Promise<StoreHealth> {
    return this.#inner.healthy(signal)
  }

  sweepStale(...asked: Parameters<ArtifactStore['sweepStale']>): Promise<number> {
    return this.#inner.sweepStale(...asked)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #openWhole(key: string, options: OpenOptions): Promise<OpenedArtifact> {
    const opened = await this.#inner.open(key, options)
    if (!isSealed(opened)) return opened
    try {
      const { records } = layoutOf(opened.size)
      const { master, stored } = { master: this.#master, stored: opened.stream }
      const stream = async function* () {
        const { header, rest } = await splitHeader(stored)
        const sealed = { key: fileKey(master, saltOf(header), key), first: 0, last: records - 1 }
        yield* openBytes(rest, { ...sealed, count: records })
      }
      return { ...opened, ...plainStat(opened), stream: readable(stream(), stored), range: null }
    } catch (error) {
      opened.stream.destroy()
      throw error
    }
  }

  /** What must be known of a file before a range of it can be read; a file that is not encrypted is opened at once. */
  async #meet(key: string, options: OpenOptions): Promise<Known | OpenedArtifact> {
    const opened = await this.#inner.open(key, options).catch(async (error: unknown) => {
      // Beyond what is stored is beyond the file, too; the error must name the size of the file.
      const stat = isAppError(error, ERRORS.RANGE_NOT_SATISFIABLE) && (await this.stat(key))
      if (stat && options.range) clampRange(options.range, stat.size)
      throw error
    })
    if (!isSealed(opened)) return opened
    opened.stream.destroy()
    const { etag } = opened
    const { records, size } = layoutOf(opened.size)
    const header = await this.#read(key, { start: 0, end: HEADER_BYTES - 1 }, options)
    // The last record proves that no record after it was cut off.
    const tail = await this.#read(key, placeOf(records - 1, records - 1), options)
    if (header.etag !== etag || tail.etag !== etag) return this.#meet(key, options)
    const known = { etag, records, size, key: fileKey(this.#master, saltOf(header.bytes), key) }
    const last = { key: known.key, first: records - 1, last: records - 1, count: records }
    for await (const _ of openBytes(piecesOf(tail.bytes), last));
    if (this.#known.size >= MOST_KNOWN) this.#known.delete(this.#known.keys().next().value ?? '')
    this.#known.set(key, known)
    return known
  }

  /** Undefined if the file is no longer the one that is known. */
  async #openRange(
    key: string,
    known: Known,
    { range = { start: 0 }, signal }: OpenOptions,
  ): Promise<OpenedArtifact | undefined> {
    const cut = clampRange(range, known.size)
    const first = Math.floor(cut.start / CHUNK_BYTES)
    const last = Math.floor(cut.end / CHUNK_BYTES)
    const opened = await this.#inner.open(key, { range: placeOf(first, last), ...(signal && { signal }) })
    if (opened.etag !== known.etag) {
      opened.stream.destroy()
      return undefined
    }
    const chunks = openBytes(opened.stream, { key: known.key, first, last, count: known.records })
    const skip = cut.start - first * CHUNK_BYTES
    const wanted = cutBytes(chunks, skip, cut.end - cut.start + 1)
    return { ...opened, ...plainStat(opened), stream: readable(wanted, opened.stream), range: cut }
  }

  async #read(key: string, range: { start: number; end: number }, { signal }: OpenOptions) {
    const { stream, etag } = await this.#inner.open(key, { range, ...(signal && { signal }) })
    const pieces: Buffer[] = []
    for await (const piece of stream) pieces.push(piece as Buffer)
    return { bytes: Buffer.concat(pieces), etag }
  }
}

function isSealed({ contentType }: ArtifactStat): boolean {
  return contentType.startsWith(SEALED_TYPE)
}

/** The properties of the file itself, not of its encrypted form. */
function plainStat(stat: ArtifactStat): ArtifactStat {
  const { etag, fileName, modifiedAt } = stat
  if (!isSealed(stat)) return { ...stat }
  const contentType = decodeURIComponent(stat.contentType.slice(SEALED_TYPE.length))
  return { etag, fileName, modifiedAt, contentType, size: layoutOf(stat.size).size }
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function* cutBytes(
  chunks: AsyncIterable<Buffer>,
  skip: number,
  length: number,
): AsyncGenerator<Buffer> {
  let at = -skip
  for await (const chunk of chunks) {
    const wanted = chunk.subarray(Math.max(0, -at), Math.max(0, length - at))
    at += chunk.length
    if (wanted.length > 0) yield wanted
  }
}

async function splitHeader(stored: Readable): Promise<{ header: Buffer; rest: AsyncIterable<Buffer> }> {
  const pieces = stored[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held: Buffer = Buffer.alloc(0)
  while (held.length < HEADER_BYTES) {
    const { done, value } = await pieces.next()
    if (done) throw damaged('it ends within its beginning')
    held = Buffer.concat([held, value])
  }
  const rest = async function* () {
    yield held.subarray(HEADER_BYTES)
    yield* { [Symbol.asyncIterator]: () => pieces }
  }
  return { header: held.subarray(0, HEADER_BYTES), rest: rest() }
}

/** Ends what it reads from when it ends itself, for whatever reason. */
function readable(bytes: AsyncIterable<Buffer>, source: Readable): Readable {
  return Readable.from(bytes, { objectMode: false, highWaterMark: CHUNK_BYTES }).once('close', () =>
    source.destroy(),
  )
}
