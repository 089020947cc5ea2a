import { rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadBucketCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { AppError, type Clock, ERRORS, messageOf, systemClock } from '../../kernel/index.ts'
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
import { isMissing, toStorageError } from './s3-error.ts'
import { fileNameFrom, metadataFor } from './s3-headers.ts'
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

/** Every open download holds one; the SDK's own limit of 50 would let uploads wait for slow readers. */
const MOST_SOCKETS = 256

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
    const {
      endpoint,
      region,
      accessKeyId,
      secretAccessKey,
      maxAttempts = 4,
      idleTimeoutMs = 300_000,
      answerTimeoutMs = 60_000,
    } = options
    this.#clock = deps.clock ?? systemClock
    this.#options = { partsInFlight: 2, ...options }
    const open = (socketTimeout: number) =>
      new S3Client({
        endpoint,
        region,
        credentials: { accessKeyId, secretAccessKey },
        maxAttempts,
        // Compatible stores know neither the bucket in the host name nor Amazon's newer default checksums.
        forcePathStyle: true,
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        // The SDK waits forever by default.
        requestHandler: {
          connectionTimeout: 10_000,
          socketTimeout,
          httpAgent: { keepAlive: true, maxSockets: MOST_SOCKETS },
          httpsAgent: { keepAlive: true, maxSockets: MOST_SOCKETS },
        },
      })
    this.#client = open(Math.min(answerTimeoutMs, idleTimeoutMs))
    this.#reader = open(idleTimeoutMs)
  }

  async put(key: string, source: ArtifactSource, options: PutOptions): Promise<StoredArtifact> {
    checkKey(key)
    const { signal, contentType, fileName } = options
    signal?.throwIfAborted()
    const hashed = new Hashed(source, signal)
    const target = {
      ...this.#at(key),
      ContentType: contentType,
      Metadata: metadataFor(fileName),
      ...(fileName === undefined ? {} : { ContentDisposition: contentDisposition(fileName) }),
    }
    try {
      const { partsInFlight } = this.#options
      const partSize = await this.#partSizeFor(source)
      const etag = await uploadInParts(this.#client, target, hashed, { partSize, partsInFlight, signal })
      if (options.move && 'path' in source) await rm(source.path, { force: true })
      return { size: hashed.size, sha256: hashed.sha256(), etag }
    } catch (error) {
      throw toStorageError(error, `store ${key}`, signal)
    }
  }

  async open(key: string, { range, signal }: OpenOptions = {}): Promise<OpenedArtifact> {
    const asked = range ? { Range: rangeHeader(range) } : {}
    const command = new GetObjectCommand({ ...this.#at(key), ...asked })
    try {
      const found = await this.#reader.send(command, signal ? { abortSignal: signal } : {})
      if (!(found.Body instanceof Readable))
        throw new AppError(ERRORS.STORAGE_UNAVAILABLE, `${key} came without a body`)
      const sent = range ? readContentRange(found.ContentRange) : null
      const stat = statOf(found)
      return {
        ...stat,
        size: sent?.size ?? stat.size,
        range: sent && { start: sent.start, end: sent.end },
        stream: told(found.Body, key, signal),
      }
    } catch (error) {
      throw toStorageError(error, `open ${key}`, signal)
    }
  }

  async stat(key: string): Promise<ArtifactStat | null> {
    checkKey(key)
    try {
      return statOf(await this.#client.send(new HeadObjectCommand(this.#at(key))))
    } catch (error) {
      if (isMissing(error)) return null
      throw toStorageError(error, `look up ${key}`)
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key)
    try {
      await this.#client.send(new DeleteObjectCommand(this.#at(key)))
    } catch (error) {
      if (!isMissing(error)) throw toStorageError(error, `delete ${key}`)
    }
  }

  async *list(prefix: string): AsyncGenerator<ListedArtifact> {
    try {
      const pages = paginateListObjectsV2(
        { client: this.#client },
        { Bucket: this.#options.bucket, Prefix: prefix },
      )
      for await (const page of pages)
        for (const { Key = '', ETag = '', LastModified } of page.Contents ?? [])
          yield { key: Key, etag: ETag, modifiedAt: LastModified?.getTime() ?? 0 }
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
      const command = new HeadBucketCommand({ Bucket: this.#options.bucket })
      await this.#client.send(command, signal ? { abortSignal: signal } : {})
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
    const Bucket = this.#options.bucket
    const before = this.#clock.now() - olderThanMs
    let swept = 0
    try {
      for await (const { Key, UploadId, Initiated } of unfinishedUploads(this.#client, Bucket)) {
        signal?.throwIfAborted()
        if (!Key || !UploadId || !Initiated || Initiated.getTime() > before || (await inUse(Key))) continue
        await this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
        swept++
      }
      return swept
    } catch (error) {
      throw toStorageError(error, 'sweep unfinished uploads', signal)
    }
  }

  async close(): Promise<void> {
    this.#client.destroy()
    this.#reader.destroy()
  }

  async #partSizeFor(source: ArtifactSource): Promise<number> {
    const { partSize } = this.#options
    if (!('path' in source)) return partSize ?? UNKNOWN_SIZE_PART
    return Math.max(partSize ?? SMALLEST_PART, Math.ceil((await stat(source.path)).size / MOST_PARTS))
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: checkKey(key) }
  }
}

function statOf(head: HeadObjectCommandOutput | GetObjectCommandOutput): ArtifactStat {
  return {
    size: head.ContentLength ?? 0,
    etag: head.ETag ?? '',
    contentType: head.ContentType ?? 'application/octet-stream',
    fileName: fileNameFrom(head.Metadata),
    modifiedAt: head.LastModified?.getTime() ?? 0,
  }
}

/** The same bytes, with errors on the way told in our words. */
function told(source: Readable, key: string, signal: AbortSignal | undefined): Readable {
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
