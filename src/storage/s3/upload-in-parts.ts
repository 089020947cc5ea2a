import { AppError, ERRORS, follow, freeMemory, orAborted } from '../../kernel/index.ts'
import { escapeXml, textOf } from './read-xml.ts'
import type { S3Client } from './s3-client.ts'
import { requireEtag } from './s3-headers.ts'

export interface UploadOptions {
  /** At least 5 MiB, which is what S3 asks of every part but the last. */
  partSize: number
  partsInFlight: number
  signal?: AbortSignal | undefined
}

const SMALLEST = 64 * 1024
const GROWTH = 8

export interface UploadTarget {
  key: string
  /** Of the object: its type, name and metadata. */
  headers: Readonly<Record<string, string>>
}

/** Stores bytes as one object, in parts if they are more than one part. Leaves nothing if it fails. Returns the entity tag. */
export async function uploadInParts(
  client: S3Client,
  target: UploadTarget,
  bytes: AsyncIterable<Buffer>,
  options: UploadOptions,
): Promise<string> {
  const stop = new AbortController()
  const unfollow = options.signal && follow(options.signal, stop)
  const upload = new PartsUpload(client, target, options, stop)
  try {
    for await (const chunk of bytes) await upload.write(chunk)
    const etag = await upload.end()
    upload.free()
    return etag
  } catch (error) {
    await upload.discard(error)
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    unfollow?.()
  }
}

/**
 * One part is filled while others are on their way. The memory of a part that has arrived holds the next one: an upload
 * needs `partsInFlight + 1` parts of memory and leaves no garbage, however large the object is.
 */
class PartsUpload {
  readonly #client: S3Client
  readonly #target: UploadTarget
  readonly #options: UploadOptions
  readonly #stop: AbortController
  readonly #free: Buffer[] = []
  readonly #inFlight = new Set<Promise<void>>()
  readonly #arrived: { number: number; etag: string }[] = []
  #uploadId: string | undefined
  #part: Buffer | undefined
  #filled = 0
  #next = 1

  constructor(client: S3Client, target: UploadTarget, options: UploadOptions, stop: AbortController) {
    this.#client = client
    this.#target = target
    this.#options = options
    this.#stop = stop
  }

  async write(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      // Sent only when more follows: a whole object of one part goes without the ceremony.
      if (this.#filled === this.#options.partSize) await this.#send()
      const copied = chunk.copy(this.#room(), this.#filled, at)
      this.#filled += copied
      at += copied
    }
  }

  async end(): Promise<string> {
    const { signal } = this.#stop
    if (this.#uploadId === undefined) {
      const put = { ...this.#target, method: 'PUT', body: this.#rest(), signal } as const
      return requireEtag((await this.#client.send(put)).headers.etag)
    }
    await this.#send()
    await this.#settled(0)
    const parts = this.#arrived
      .sort((one, other) => one.number - other.number)
      .map(
        ({ number, etag }) =>
          `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
      )
    const { text } = await this.#client.send({
      method: 'POST',
      key: this.#target.key,
      query: { uploadId: this.#uploadId },
      headers: { 'content-type': 'application/xml' },
      body: `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
      signal,
    })
    return requireEtag(textOf(text, 'ETag'))
  }

  /** Once all parts have arrived. */
  free(): void {
    freeMemory(...this.#free)
  }

  /** Takes the parts back. What is under way ends first: a part that arrives after the abort would stay. */
  async discard(reason: unknown): Promise<void> {
    this.#stop.abort(reason)
    await Promise.allSettled(this.#inFlight)
    if (this.#uploadId === undefined) return
    const abort = { method: 'DELETE', key: this.#target.key, query: { uploadId: this.#uploadId } } as const
    // If the store is away, the sweep of unfinished uploads finds it later.
    await this.#client.send(abort).catch(() => undefined)
  }

  /** Memory with a free place in it. The first part grows into its size: most objects are far smaller. */
  #room(): Buffer {
    this.#part ??= this.#free.pop() ?? Buffer.allocUnsafeSlow(SMALLEST)
    const part = this.#part
    if (this.#filled < part.length) return part
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#options.partSize, part.length * GROWTH))
    part.copy(larger)
    freeMemory(part)
    this.#part = larger
    return larger
  }

  async #send(): Promise<void> {
    this.#uploadId ??= await this.#create()
    const uploadId = this.#uploadId
    await this.#settled(this.#options.partsInFlight - 1)
    const number = this.#next++
    const part = this.#part
    const sending = this.#client
      .send({
        method: 'PUT',
        key: this.#target.key,
        query: { partNumber: String(number), uploadId },
        body: this.#rest(),
        signal: this.#stop.signal,
      })
      .then(({ headers }) => {
        this.#arrived.push({ number, etag: requireEtag(headers.etag) })
        if (part) this.#free.push(part)
      })
      // The waiting caller hears of it by the signal.
      .catch((error: unknown) => this.#stop.abort(error))
      .finally(() => this.#inFlight.delete(sending))
    this.#inFlight.add(sending)
  }

  /** Waits until at most N parts are under way. */
  async #settled(most: number): Promise<void> {
    while (this.#inFlight.size > most) await orAborted(Promise.any([...this.#inFlight]), this.#stop.signal)
    this.#stop.signal.throwIfAborted()
  }

  async #create(): Promise<string> {
    const create = {
      ...this.#target,
      method: 'POST',
      query: { uploads: '' },
      signal: this.#stop.signal,
    } as const
    const uploadId = textOf((await this.#client.send(create)).text, 'UploadId')
    if (!uploadId) throw new AppError(ERRORS.STORAGE_UNAVAILABLE, 'the store began no upload')
    return uploadId
  }

  #rest(): Buffer {
    const rest = (this.#part ?? Buffer.alloc(0)).subarray(0, this.#filled)
    this.#part = undefined
    this.#filled = 0
    return rest
  }
}
