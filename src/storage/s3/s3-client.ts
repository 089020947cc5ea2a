import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher } from 'undici'
import { type Backoff, type Clock, SecretMask, withRetry } from '../../kernel/index.ts'
import { isPassing, refusalOf, type S3Refusal } from './s3-error.ts'
import { encodePath, encodeQuery, type S3Credentials, signRequest } from './sign-request.ts'

export interface S3ClientOptions extends S3Credentials {
  endpoint: string
  bucket: string
  maxAttempts: number
  /** How long a connection may be silent. */
  silenceMs: number
}

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** None: the bucket itself. */
  key?: string
  query?: Readonly<Record<string, string | undefined>>
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal | undefined
}

export interface S3Answer {
  headers: IncomingHttpHeaders
  text: string
}

/** Every open download holds one; a lower limit would let uploads wait for slow readers. */
const MOST_SOCKETS = 256
const CONNECT_MS = 10_000
const BACKOFF: Backoff = { base: 100, factor: 2, max: 5_000, jitter: 0.5 }
const NEVER = new AbortController().signal

/**
 * Requests to one bucket of an S3-compatible store: signed, with the bucket in the path, and sent again where that may help. Amazon's SDK
 * would be a sixth of the whole installation, for nine requests.
 */
export class S3Client {
  readonly #options: S3ClientOptions
  readonly #clock: Clock
  readonly #agent: Agent
  readonly #endpoint: URL
  /** What the store's clock is ahead of ours, once it has refused a request for that. */
  #skewMs = 0

  constructor(deps: { clock: Clock }, options: S3ClientOptions) {
    const { silenceMs } = options
    this.#options = options
    this.#clock = deps.clock
    this.#endpoint = new URL(options.endpoint)
    this.#agent = new Agent({
      connections: MOST_SOCKETS,
      pipelining: 1,
      connect: { timeout: CONNECT_MS },
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
    })
  }

  /** The answer as a whole. */
  async send(request: S3Request): Promise<S3Answer> {
    return this.#again(request, async ({ headers, body }) => {
      const text = await body.text()
      // An upload that could not be completed is answered with 200 and an error.
      if (/<Error[\s>]/.test(text)) throw refusalOf(503, text)
      return { headers, text }
    })
  }

  /** The answer with its body as it comes. */
  async open(request: S3Request): Promise<{ headers: IncomingHttpHeaders; body: Readable }> {
    const answer = await this.#again(request, async ({ headers, body }) => ({ headers, body }))
    // Readers hear of errors as they read; a body that is given up before must not end the process.
    answer.body.on('error', () => undefined)
    return answer
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  #again<T>(request: S3Request, read: (answer: Dispatcher.ResponseData) => Promise<T>): Promise<T> {
    const { maxAttempts: attempts } = this.#options
    const { signal = NEVER } = request
    const options = { attempts, clock: this.#clock, signal, backoff: BACKOFF, isRetryable: isPassing }
    const mask = new SecretMask().add(this.#options.secretAccessKey)
    return mask.guard(() => withRetry(async () => read(await this.#once(request, mask)), options))
  }

  async #once(
    { method, key, query = {}, headers = {}, body = '', signal }: S3Request,
    mask: SecretMask,
  ): Promise<Dispatcher.ResponseData> {
    const { origin, host, pathname } = this.#endpoint
    const { bucket } = this.#options
    const path = `${pathname.replace(/\/$/, '')}/${encodePath(key === undefined ? bucket : `${bucket}/${key}`)}`
    const asked = encodeQuery(query)
    const unsigned = { method, path, query: asked, headers: { ...headers, host }, body }
    const at = new Date(this.#clock.now() + this.#skewMs)
    const signed = signRequest(unsigned, this.#options, at)
    mask.add(signed.authorization)
    const answer = await this.#agent.request({
      origin,
      path: asked === '' ? path : `${path}?${asked}`,
      method,
      headers: signed,
      body: body.length === 0 && !['PUT', 'POST'].includes(method) ? null : body,
      ...(signal && { signal }),
    })
    if (answer.statusCode >= 200 && answer.statusCode <= 299) return answer
    const refusal = refusalOf(answer.statusCode, await answer.body.text())
    this.#noteClock(refusal, answer.headers.date)
    throw refusal
  }

  #noteClock({ code }: S3Refusal, date: string | string[] | undefined): void {
    const theirs = Date.parse(String(date))
    if (code === 'RequestTimeTooSkewed' && !Number.isNaN(theirs)) this.#skewMs = theirs - this.#clock.now()
  }
}
