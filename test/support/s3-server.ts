import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface S3Object {
  body: Buffer
  etag: string
  contentType: string
  disposition: string | undefined
  metadata: Record<string, string>
  modifiedAt: Date
  /** Whatever else a store says of it. */
  headers?: Record<string, string>
}

export type S3Operation =
  | 'PutObject'
  | 'GetObject'
  | 'HeadObject'
  | 'DeleteObject'
  | 'HeadBucket'
  | 'ListObjects'
  | 'CreateUpload'
  | 'UploadPart'
  | 'CompleteUpload'
  | 'AbortUpload'
  | 'ListUploads'

/** What goes wrong with a request: an error, a connection cut before or in the middle of the answer, or no answer. */
export type S3Fault = { status: number; code: string } | 'cut' | 'cut in the middle' | 'silence'

interface Upload extends Omit<S3Object, 'body' | 'etag'> {
  key: string
  parts: Map<number, { body: Buffer; etag: string }>
}

interface Request {
  operation: S3Operation
  key: string
  query: URLSearchParams
  incoming: IncomingMessage
  response: ServerResponse
}

const SMALLEST_PART = 5 * 1024 * 1024

/** The part of S3 that Wharf uses, on loopback, with real objects in memory and faults on demand. */
export class S3Server {
  readonly bucket = 'wharf-files'
  readonly accessKeyId = 'LOOPBACKKEY'
  readonly secretAccessKey = 'loopback-secret'
  readonly region = 'eu-loop-1'
  readonly objects = new Map<string, S3Object>()
  readonly uploads = new Map<string, Upload>()
  /** Every request that came in, in order. */
  readonly seen: S3Operation[] = []
  /** Bytes of objects and parts that have arrived so far. */
  received = 0
  /** What its clock is ahead of the machine's. */
  clockAheadMs = 0
  /** How many keys one page of a listing holds. */
  pageSize = 1000
  fault: (operation: S3Operation, nth: number) => S3Fault | undefined = () => undefined
  readonly #server = createServer((incoming, response) => {
    this.#serve(incoming, response).catch((error: unknown) => response.destroy(error as Error))
  })

  static async start(): Promise<S3Server> {
    const server = new S3Server()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://s3.invalid')
    const [bucket = '', ...parts] = url.pathname.slice(1).split('/').map(decodeURIComponent)
    const key = parts.join('/')
    const operation = operationOf(incoming.method ?? '', key, url.searchParams)
    this.seen.push(operation)
    const refused = this.#refused(incoming, url)
    const date = new Date(Date.now() + this.clockAheadMs).toUTCString()
    if (refused) return fail(response, 403, refused, { date })
    if (bucket !== this.bucket) return fail(response, 404, 'NoSuchBucket')
    const fault = this.fault(operation, this.seen.filter((one) => one === operation).length)
    if (fault === 'cut') return void incoming.socket.destroy()
    if (fault === 'silence') return
    if (typeof fault === 'object') {
      incoming.resume()
      return fail(response, fault.status, fault.code)
    }
    await this.#answer({ operation, key, query: url.searchParams, incoming, response }, fault !== undefined)
  }

  /** As S3 judges a request: by what came over the wire alone. */
  #refused({ method, headers, url: raw = '' }: IncomingMessage, url: URL): string | undefined {
    const [, id, day, region, names = '', signature] =
      /^AWS4-HMAC-SHA256 Credential=(.+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
        headers.authorization ?? '',
      ) ?? []
    if (id !== this.accessKeyId || region !== this.region || day === undefined) return 'InvalidAccessKeyId'
    const time = String(headers['x-amz-date'])
    const at = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
    if (!(Math.abs(at - Date.now() - this.clockAheadMs) < 15 * 60_000)) return 'RequestTimeTooSkewed'
    const query = [...url.searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort()
    const path = (raw.split('?')[0] ?? '').split('/').map(decodeURIComponent).map(encoded).join('/')
    const lines = names.split(';').map((name) => `${name}:${headers[name]}`)
    const hash = String(headers['x-amz-content-sha256'])
    const canonical = [method, path, query.join('&'), ...lines, '', names, hash].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join(
      '\n',
    )
    const mac = (key: string | Buffer, part: string) => createHmac('sha256', key).update(part).digest()
    const key = mac(mac(mac(mac(`AWS4${this.secretAccessKey}`, day), region), 's3'), 'aws4_request')
    return mac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
  }

  async #answer(request: Request, cut: boolean): Promise<void> {
    const { operation, key, response } = request
    switch (operation) {
      case 'PutObject':
        return this.#put(request)
      case 'GetObject':
      case 'HeadObject':
        return this.#get(request, cut)
      case 'DeleteObject':
        this.objects.delete(key)
        return void response.writeHead(204).end()
      case 'HeadBucket':
        return void response.writeHead(200).end()
      case 'ListObjects':
        return this.#list(request)
      default:
        return this.#multipart(request)
    }
  }

  async #put({ key, incoming, response }: Request): Promise<void> {
    const body = await this.#receive(incoming)
    if (!body) return
    const etag = `"${md5(body)}"`
    this.objects.set(key, { ...described(incoming), body, etag })
    response.writeHead(200, { etag }).end()
  }

  async #get({ operation, key, incoming, response }: Request, cut: boolean): Promise<void> {
    const object = this.objects.get(key)
    if (!object) return fail(response, 404, operation === 'HeadObject' ? 'NotFound' : 'NoSuchKey')
    const size = object.body.length
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(incoming.headers.range ?? '') ?? []
    const start = Number(from ?? 0)
    const end = Math.min(to ? Number(to) : size - 1, size - 1)
    if (from !== undefined && start >= size) return fail(response, 416, 'InvalidRange')
    const body = object.body.subarray(start, end + 1)
    response.writeHead(from === undefined ? 200 : 206, {
      etag: object.etag,
      'content-type': object.contentType,
      'content-length': body.length,
      'last-modified': object.modifiedAt.toUTCString(),
      ...(object.disposition ? { 'content-disposition': object.disposition } : {}),
      ...(from === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${size}` }),
      ...Object.fromEntries(
        Object.entries(object.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]),
      ),
      ...object.headers,
    })
    if (operation === 'HeadObject') response.end()
    else if (cut) response.write(body.subarray(0, body.length / 2), () => incoming.socket.destroy())
    else response.end(body)
  }

  #list({ query, response }: Request): void {
    const after = query.get('continuation-token') ?? ''
    const keys = [...this.objects.keys()].filter(
      (key) => key.startsWith(query.get('prefix') ?? '') && key > after,
    )
    const page = keys.sort().slice(0, this.pageSize)
    const more = keys.length > page.length
    const contents = page.map((key) => {
      const object = this.objects.get(key)
      return `<Contents><Key>${xml(key)}</Key><LastModified>${object?.modifiedAt.toISOString()}</LastModified><ETag>${xml(object?.etag ?? '')}</ETag><Size>${object?.body.length}</Size><ChecksumAlgorithm>CRC32</ChecksumAlgorithm><StorageClass>STANDARD</StorageClass></Contents>`
    })
    const next = more ? `<NextContinuationToken>${xml(page.at(-1) ?? '')}</NextContinuationToken>` : ''
    sendXml(response, 'ListBucketResult', `<IsTruncated>${more}</IsTruncated>${next}${contents.join('')}`)
  }

  async #multipart(request: Request): Promise<void> {
    const { operation, key, query, incoming, response } = request
    const id = query.get('uploadId') ?? ''
    if (operation === 'ListUploads') return this.#listUploads(response)
    if (operation === 'CreateUpload') {
      const uploadId = randomUUID()
      this.uploads.set(uploadId, { ...described(incoming), key, parts: new Map() })
      return sendXml(response, 'InitiateMultipartUploadResult', `<UploadId>${uploadId}</UploadId>`)
    }
    const upload = this.uploads.get(id)
    if (!upload || upload.key !== key) return fail(response, 404, 'NoSuchUpload')
    if (operation === 'AbortUpload') {
      this.uploads.delete(id)
      return void response.writeHead(204).end()
    }
    const body = await this.#receive(incoming)
    if (!body) return
    if (operation === 'CompleteUpload') return this.#complete(response, id, upload, body.toString())
    const etag = `"${md5(body)}"`
    upload.parts.set(Number(query.get('partNumber')), { body, etag })
    response.writeHead(200, { etag }).end()
  }

  async #complete(response: ServerResponse, id: string, upload: Upload, listing: string): Promise<void> {
    const numbers = [...listing.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((match) => Number(match[1]))
    const parts = numbers.map((number) => upload.parts.get(number))
    const inOrder = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))
    const bodies = parts.flatMap((part) => (part ? [part.body] : []))
    if (bodies.length === 0 || bodies.length < parts.length || !inOrder)
      return fail(response, 400, 'InvalidPart')
    if (bodies.slice(0, -1).some((body) => body.length < SMALLEST_PART))
      return fail(response, 400, 'EntityTooSmall')
    const digests = bodies.map((body) => createHash('md5').update(body).digest())
    const etag = `"${md5(Buffer.concat(digests))}-${bodies.length}"`
    const { contentType, disposition, metadata } = upload
    this.objects.set(upload.key, {
      ...{ contentType, disposition, metadata, etag },
      body: Buffer.concat(bodies),
      modifiedAt: new Date(),
    })
    this.uploads.delete(id)
    sendXml(response, 'CompleteMultipartUploadResult', `<ETag>${xml(etag)}</ETag>`)
  }

  #listUploads(response: ServerResponse): void {
    const uploads = [...this.uploads].map(
      ([id, { key, modifiedAt }]) =>
        `<Upload><Key>${xml(key)}</Key><UploadId>${id}</UploadId><Initiated>${modifiedAt.toISOString()}</Initiated></Upload>`,
    )
    sendXml(response, 'ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${uploads.join('')}`)
  }

  /** The whole body, or nothing if the sender broke off: a bucket never holds half an object. */
  async #receive(incoming: IncomingMessage): Promise<Buffer | undefined> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of incoming) {
        chunks.push(chunk)
        this.received += chunk.length
      }
    } catch {
      return undefined
    }
    const body = Buffer.concat(chunks)
    const sent = createHash('sha256').update(body).digest('hex') === incoming.headers['x-amz-content-sha256']
    return incoming.complete && sent ? body : undefined
  }
}

function operationOf(method: string, key: string, query: URLSearchParams): S3Operation {
  if (query.has('uploads')) return method === 'POST' ? 'CreateUpload' : 'ListUploads'
  if (query.has('uploadId')) {
    if (method === 'PUT') return 'UploadPart'
    return method === 'POST' ? 'CompleteUpload' : 'AbortUpload'
  }
  if (key === '') return method === 'HEAD' ? 'HeadBucket' : 'ListObjects'
  if (method === 'PUT') return 'PutObject'
  if (method === 'DELETE') return 'DeleteObject'
  return method === 'HEAD' ? 'HeadObject' : 'GetObject'
}

function described({ headers }: IncomingMessage): Omit<S3Object, 'body' | 'etag'> {
  const metadata: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('x-amz-meta-')) metadata[name.slice('x-amz-meta-'.length)] = String(value)
  const contentType = headers['content-type'] ?? 'binary/octet-stream'
  return { contentType, disposition: headers['content-disposition'], metadata, modifiedAt: new Date() }
}

function encoded(text: string): string {
  const all = [...Buffer.from(text)].map((byte) => String.fromCharCode(byte))
  return all
    .map((sign) =>
      /[\w.~-]/.test(sign) ? sign : `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('')
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex')
}

function xml(text: string): string {
  return text.replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

function sendXml(response: ServerResponse, root: string, inner: string): void {
  const text = `<?xml version="1.0" encoding="UTF-8"?><${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${root}>`
  response.writeHead(200, { 'content-type': 'application/xml' }).end(text)
}

function fail(response: ServerResponse, status: number, code: string, headers = {}): void {
  const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`
  response
    .writeHead(status, { 'content-type': 'application/xml', ...headers })
    .end(response.req.method === 'HEAD' ? '' : text)
}
