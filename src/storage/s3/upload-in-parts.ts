import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { follow, orAborted } from '../../kernel/index.ts'

export interface UploadOptions {
  /** At least 5 MiB, which is what S3 asks of every part but the last. */
  partSize: number
  partsInFlight: number
  signal?: AbortSignal | undefined
}

const SMALLEST = 64 * 1024
const GROWTH = 8

type Target = Omit<PutObjectCommandInput, 'Body'>

/** Stores bytes as one object, in parts if they are more than one part. Leaves nothing if it fails. Returns the entity tag. */
export async function uploadInParts(
  client: S3Client,
  target: Target,
  bytes: AsyncIterable<Buffer>,
  options: UploadOptions,
): Promise<string> {
  const stop = new AbortController()
  const unfollow = options.signal && follow(options.signal, stop)
  const upload = new PartsUpload(client, target, options, stop)
  try {
    for await (const chunk of bytes) await upload.write(chunk)
    return await upload.end()
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
  readonly #target: Target
  readonly #options: UploadOptions
  readonly #stop: AbortController
  readonly #free: Buffer[] = []
  readonly #inFlight = new Set<Promise<void>>()
  readonly #arrived: { PartNumber: number; ETag: string }[] = []
  #uploadId: string | undefined
  #part: Buffer | undefined
  #filled = 0
  #next = 1

  constructor(client: S3Client, target: Target, options: UploadOptions, stop: AbortController) {
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
    const sent = { abortSignal: this.#stop.signal }
    if (this.#uploadId === undefined) {
      const put = new PutObjectCommand({ ...this.#target, Body: this.#rest() })
      return (await this.#client.send(put, sent)).ETag ?? ''
    }
    await this.#send()
    await this.#settled(0)
    const Parts = this.#arrived.sort((one, other) => one.PartNumber - other.PartNumber)
    const { Bucket, Key } = this.#target
    const UploadId = this.#uploadId
    const complete = new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } })
    return (await this.#client.send(complete, sent)).ETag ?? ''
  }

  /** Takes the parts back. What is under way ends first: a part that arrives after the abort would stay. */
  async discard(reason: unknown): Promise<void> {
    this.#stop.abort(reason)
    await Promise.allSettled(this.#inFlight)
    if (this.#uploadId === undefined) return
    const { Bucket, Key } = this.#target
    const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId: this.#uploadId })
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
    this.#part = larger
    return larger
  }

  async #send(): Promise<void> {
    this.#uploadId ??= await this.#create()
    const UploadId = this.#uploadId
    await this.#settled(this.#options.partsInFlight - 1)
    const PartNumber = this.#next++
    const part = this.#part
    const { Bucket, Key } = this.#target
    const upload = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body: this.#rest() })
    const sending = this.#client
      .send(upload, { abortSignal: this.#stop.signal })
      .then(({ ETag = '' }) => {
        this.#arrived.push({ PartNumber, ETag })
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
    const create = new CreateMultipartUploadCommand(this.#target)
    const { UploadId } = await this.#client.send(create, { abortSignal: this.#stop.signal })
    if (!UploadId) throw new Error('the store began no upload')
    return UploadId
  }

  #rest(): Buffer {
    const rest = (this.#part ?? Buffer.alloc(0)).subarray(0, this.#filled)
    this.#part = undefined
    this.#filled = 0
    return rest
  }
}
