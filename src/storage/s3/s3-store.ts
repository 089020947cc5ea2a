import { rm, stat } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { type Clock, messageOf, systemClock } from '../../kernel/index.ts'
import { checkKey } from '../artifact-key.ts'
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
import { contentDisposition } from '../content-disposition.ts'
import { Hashed } from '../hashed.ts'
import { rangeHeader, readContentRange } from './content-range.ts'
import { elementsOf, textOf } from './read-xml.ts'
import { S3Client } from './s3-client.ts'
import { isMissing, toStorageError } from './s3-error.ts'
import { fileNameFrom, metadataFor, requireEtag } from './s3-headers.ts'
import { unfinishedUploads } from './unfinished-uploads.ts'
import { uploadInParts } from './upload-in-parts.ts'

export interface S3Options {
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** The public address in front of the bucket. */
  cdnBaseUrl?: string
  /** At least 5 MiB, which is what S3 asks of every part but the last. */
  partSize?: number
  /** Parts on their way at once; memory stays below `partSize × (partsInFlight + 1)`. */
  partsInFlight?: number
  maxAttempts?: number
  /** How long a connection may be silent while an object is read: as long as the reader may stall. */
  idleTimeoutMs?: number
  /** The same for every other request: a store that hangs is noticed after this time. */
  answerTimeoutMs?: number
}

const SMALLEST_PART = 5 * 1024 * 1024
/** What S3 takes of one object; so a part must grow with a file of more than 48 GiB. */
const MOST_PARTS = 10_000
const UNKNOWN_SIZE_PART = 8 * 1024 * 1024

/** Artifacts in an S3-compatible bucket. Objects appear whole or not at all, which is S3's own promise. */
export class S3Store implements ArtifactStore {
  readonly #client: S3Client
  readonly #reader: S3Client
  readonly #clock: Clock
  readonly #options: S3Options & { partsInFlight: number }

  constructor(deps: { clock?: Clock }, options: S3Options) {
    const { maxAttempts = 4, idleTimeoutMs = 300_000, answerTimeoutMs = 60_000 } = options
    this.#clock = deps.clock ?? systemClock
    this.#options = { partsInFlight: 2, ...options }
    const open = (silenceMs: number) =>
      new S3Client({ clock: this.#clock }, { ...options, maxAttempts, silenceMs })
    this.#client = open(Math.min(answerTimeoutMs, idleTimeoutMs))
    this.#reader = open(idleTimeoutMs)
  }

  async put(key: string, source: ArtifactSource, options: PutOptions): Promise<StoredArtifact> {
    checkKey(key)
    const { signal, contentType, fileName } = options
    signal?.throwIfAborted()
    const hashed = new Hashed(source, signal)
    const headers = {
      'content-type': contentType,
      ...metadataFor(fileName),
      ...(fileName === undefined ? {} : { 'content-disposition': contentDisposition(fileName) }),
    }
    try {
      const { partsInFlight } = this.#options
      const partSize = await this.#partSizeFor(source)
      const etag = await uploadInParts(this.#client, { key, headers }, hashed, {
        partSize,
        partsInFlight,
        signal,
      })
      if (options.move && 'path' in source) await rm(source.path, { force: true })
      return { size: hashed.size, sha256: hashed.sha256(), etag }
    } catch (error) {
      throw toStorageError(error, `store ${key}`, signal)
    }
  }

  async open(key: string, { range, signal }: OpenOptions = {}): Promise<OpenedArtifact> {
    checkKey(key)
    const headers: Record<string, string> = range ? { range: rangeHeader(range) } : {}
    try {
      const found = await this.#reader.open({ method: 'GET', key, headers, signal })
      const [stat, sent] = understood(found, range !== undefined)
      return {
        ...stat,
        size: sent?.size ?? stat.size,
        range: sent && { start: sent.start, end: sent.end },
        stream: withOurErrors(found.body, key, signal),
        version: `${stat.etag} ${stat.modifiedAt}`,
        untouched: false,
      }
    } catch (error) {
      throw toStorageError(error, `open ${key}`, signal)
    }
  }

  async stat(key: string): Promise<ArtifactStat | null> {
    checkKey(key)
    try {
      return statOf((await this.#client.send({ method: 'HEAD', key })).headers)
    } catch (error) {
      if (isMissing(error)) return null
      throw toStorageError(error, `look up ${key}`)
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key)
    try {
      await this.#client.send({ method: 'DELETE', key })
    } catch (error) {
      if (!isMissing(error)) throw toStorageError(error, `delete ${key}`)
    }
  }

  async *list(prefix: string): AsyncGenerator<ListedArtifact> {
    try {
      let token: string | undefined
      do {
        const query = { 'list-type': '2', prefix, 'continuation-token': token }
        const { text } = await this.#client.send({ method: 'GET', query })
        for (const object of elementsOf(text, 'Contents'))
          yield {
            key: textOf(object, 'Key') ?? '',
            etag: textOf(object, 'ETag') ?? '',
            modifiedAt: Date.parse(textOf(object, 'LastModified') ?? '') || 0,
          }
        token = textOf(text, 'IsTruncated') === 'true' ? textOf(text, 'NextContinuationToken') : undefined
      } while (token)
    } catch (error) {
      throw toStorageError(error, `list ${prefix}`)
    }
  }

  async publicUrl(key: string): Promise<string | null> {
    checkKey(key)
    const { cdnBaseUrl } = this.#options
    if (cdnBaseUrl === undefined) return null
    return `${cdnBaseUrl.replace(/\/+$/, '')}/${key.split('/').map(encodeURIComponent).join('/')}`
  }

  async healthy(signal?: AbortSignal): Promise<StoreHealth> {
    try {
      await this.#client.send({ method: 'HEAD', signal })
      return { ok: true }
    } catch (error) {
      return {
        ok: false,
        reason: messageOf(toStorageError(error, `reach the bucket ${this.#options.bucket}`)),
      }
    }
  }

  /** An upload that died half-way costs room until it is aborted, though nobody can see it. */
  async sweepStale(
    olderThanMs: number,
    signal?: AbortSignal,
    inUse: (key: string) => Promise<boolean> = async () => false,
  ): Promise<number> {
    const before = this.#clock.now() - olderThanMs
    let swept = 0
    try {
      for await (const { key, uploadId, begunAt } of unfinishedUploads(this.#client)) {
        signal?.throwIfAborted()
        if (begunAt > before || (await inUse(key))) continue
        await this.#client.send({ method: 'DELETE', key, query: { uploadId } })
        swept++
      }
      return swept
    } catch (error) {
      throw toStorageError(error, 'sweep unfinished uploads', signal)
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#reader.close()])
  }

  async #partSizeFor(source: ArtifactSource): Promise<number> {
    const { partSize } = this.#options
    if (!('path' in source)) return partSize ?? UNKNOWN_SIZE_PART
    return Math.max(partSize ?? SMALLEST_PART, Math.ceil((await stat(source.path)).size / MOST_PARTS))
  }
}

function statOf(headers: IncomingHttpHeaders): ArtifactStat {
  return {
    size: Number(headers['content-length'] ?? 0),
    etag: requireEtag(headers.etag),
    contentType: headers['content-type'] ?? 'application/octet-stream',
    fileName: fileNameFrom(headers),
    modifiedAt: Date.parse(headers['last-modified'] ?? '') || 0,
  }
}

/** An answer that is not used would hold its connection. */
function understood({ headers, body }: { headers: IncomingHttpHeaders; body: Readable }, ranged: boolean) {
  try {
    return [statOf(headers), ranged ? readContentRange(headers['content-range']) : null] as const
  } catch (error) {
    body.destroy()
    throw error
  }
}

/** The same bytes; errors on the way become ours. */
function withOurErrors(source: Readable, key: string, signal: AbortSignal | undefined): Readable {
  const stream = Readable.from(
    (async function* () {
      try {
        yield* source
      } catch (error) {
        throw toStorageError(error, `read ${key}`, signal)
      }
    })(),
    { objectMode: false },
  )
  return stream.once('close', () => source.destroy())
}
