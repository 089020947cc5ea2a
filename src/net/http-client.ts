import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import {
  AppError,
  type Clock,
  counted,
  currentTraceparent,
  type Deadline,
  ERRORS,
  metrics,
  SecretMask,
  type Span,
  startDeadline,
  statusLabel,
  systemClock,
  traced,
} from '../kernel/index.ts'
import { Agents } from './agents.ts'
import { AnswerBody } from './body/answer-body.ts'
import { ACCEPT_ENCODING, decodeBody } from './body/decode-body.ts'
import {
  type AddressGuard,
  bareHost,
  firstHop,
  judged,
  type Resolver,
  refuseLiteral,
  systemResolver,
} from './guard/index.ts'
import { toHttpError } from './http-error.ts'
import { type Hop, nextHop } from './redirect.ts'

export interface HttpRequest {
  url: string | URL
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Headers that hold for one URL alone, as a signature does: made anew for each hop within the first origin. */
  sign?: (url: URL) => Record<string, string>
  signal?: AbortSignal
  timeouts?: Partial<HttpTimeouts>
  /** What the request is counted as in the metrics. */
  domain?: string
  /** Whether a redirect may lead to another origin; it may unless this says false. */
  mayStray?: boolean
}

export interface HttpTimeouts {
  /** Until the first byte of the answer. */
  headersMs: number
  /** Between two pieces of the body. */
  bodyMs: number
  /** For everything, redirects and the last byte of the body included. */
  totalMs: number
}

export interface HttpResponse {
  status: number
  headers: Headers
  /** Decompressed. Read it to its end or destroy it: until then it holds a connection. */
  body: Readable
  /** Where the answer came from, after redirects. */
  url: URL
}

export interface HttpClientDeps {
  guard: Pick<AddressGuard, 'decide'>
  resolver?: Resolver
  clock?: Clock
}

export interface HttpClientOptions {
  /** What is asked in place of an address, whatever the guard says: Wharf's own sample source, at its own port. */
  inPlaceOf?: (url: URL) => URL | undefined
  userAgent?: string
  connectionsPerOrigin?: number
  connectMs?: number
  maxRedirects?: number
  timeouts?: Partial<HttpTimeouts>
}

const TIMEOUTS: HttpTimeouts = { headersMs: 30_000, bodyMs: 30_000, totalMs: 300_000 }

/** Outgoing HTTP for addresses that callers chose: guarded on every connection, redirects included. */
export class HttpClient {
  readonly #guard: Pick<AddressGuard, 'decide'>
  readonly #resolver: Resolver
  readonly #clock: Clock
  readonly #agents: Agents
  readonly #options: Required<Omit<HttpClientOptions, 'timeouts' | 'connectMs' | 'connectionsPerOrigin'>>
  readonly #timeouts: HttpTimeouts

  constructor(deps: HttpClientDeps, options: HttpClientOptions = {}) {
    const { resolver = systemResolver, clock = systemClock } = deps
    const { connectionsPerOrigin = 16, connectMs = 10_000 } = options
    this.#guard = deps.guard
    this.#clock = clock
    this.#resolver = resolver
    this.#agents = new Agents({ guard: deps.guard, resolver }, { connectionsPerOrigin, connectMs })
    this.#options = {
      inPlaceOf: options.inPlaceOf ?? (() => undefined),
      userAgent: options.userAgent ?? 'Wharf',
      maxRedirects: options.maxRedirects ?? 5,
    }
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts }
  }

  /** Throws for what can never be asked; host names are judged later, when they are resolved. */
  check(url: string | URL, headers: Record<string, string> = {}): URL {
    const hop = firstHop({ url, headers }, this.#options.userAgent, ACCEPT_ENCODING)
    if (!this.#options.inPlaceOf(hop.url)) refuseLiteral(this.#guard, hop.url)
    return hop.url
  }

  /** An address of a host that the guard lets pass, for connections that are not HTTP. They must go to that address. */
  async addressOf(host: string, port: number): Promise<string> {
    const [first] = await judged(
      { guard: this.#guard, resolver: this.#resolver },
      { host: bareHost(host), port },
    )
    return first!.address
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const { domain = 'other' } = request
    const answered = metrics.sourceDuration.startTimer({ domain })
    let status: number | undefined
    try {
      const method = (request.method ?? 'GET').toUpperCase()
      return await traced(
        method,
        { kind: 'client', attributes: { 'http.request.method': method } },
        async (span) => {
          const response = await this.#request(request, span)
          status = response.status
          return response
        },
      )
    } finally {
      answered()
      metrics.sourceRequests.inc({ domain, status: statusLabel(status) })
    }
  }

  async #request(request: HttpRequest, span: Span): Promise<HttpResponse> {
    const mask = new SecretMask().addUrl(request.url).addHeaders(request.headers ?? {})
    return mask.guard(() => this.#follow(request, span, mask))
  }

  async #follow(request: HttpRequest, span: Span, mask: SecretMask): Promise<HttpResponse> {
    let hop = firstHop(request, this.#options.userAgent, ACCEPT_ENCODING)
    const trace = currentTraceparent()
    if (trace !== undefined && !hop.headers.has('traceparent')) hop.headers.set('traceparent', trace)
    span.set({ 'server.address': hop.url.hostname, 'server.port': hop.url.port || undefined })
    const timeouts = { ...this.#timeouts, ...request.timeouts }
    const { host } = hop.url
    const late = () =>
      new AppError(ERRORS.HTTP_TIMEOUT, `${host} did not finish its answer within ${timeouts.totalMs} ms`)
    const deadline = startDeadline(this.#clock, timeouts.totalMs, late, request.signal)
    try {
      for (let redirects = 0; ; redirects++) {
        deadline.signal.throwIfAborted()
        const answer = await this.#send(hop, request.sign, timeouts, deadline.signal)
        const headers = toHeaders(answer.headers)
        const next = nextHop(hop, answer.statusCode, headers.get('location'))
        if (!next) {
          span.set({ 'http.response.status_code': answer.statusCode })
          return this.#finish(hop, answer, headers, { deadline, mask })
        }
        // Reads a short rest so that the connection can be used again; cuts a long one.
        await answer.body.dump({ limit: 16_384, signal: deadline.signal })
        if (next.strayed && request.mayStray === false)
          throw new AppError(ERRORS.REDIRECT_REFUSED, `${hop.url.host} redirects to ${next.url.origin}`, {
            retryable: false,
          })
        if (redirects >= this.#options.maxRedirects)
          throw new AppError(
            ERRORS.REDIRECT_LOOP,
            `${hop.url.host} redirects more than ${counted(redirects, 'time')}`,
            {
              retryable: false,
            },
          )
        hop = next
      }
    } catch (error) {
      deadline.clear()
      throw toHttpError(error, hop.url, deadline.signal)
    }
  }

  async close(): Promise<void> {
    await this.#agents.close()
  }

  async #send(
    hop: Hop,
    sign: HttpRequest['sign'],
    timeouts: HttpTimeouts,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const own = this.#options.inPlaceOf(hop.url)
    const agent = await (own ? this.#agents.pinned() : this.#agents.guarded())
    const { origin, pathname, search } = own ?? hop.url
    const signature = hop.strayed ? {} : (sign?.(hop.url) ?? {})
    return agent.request({
      origin,
      path: pathname + search,
      method: hop.method as Dispatcher.HttpMethod,
      headers: { ...Object.fromEntries(hop.headers), ...signature },
      body: hop.body ?? null,
      signal,
      headersTimeout: timeouts.headersMs,
      bodyTimeout: timeouts.bodyMs,
    })
  }

  #finish(
    hop: Hop,
    answer: Dispatcher.ResponseData,
    headers: Headers,
    { deadline, mask }: { deadline: Deadline; mask: SecretMask },
  ): HttpResponse {
    const source = hasBody(hop, answer, headers) ? this.#decoded(answer, headers) : answer.body
    const body = new AnswerBody(source, { url: hop.url, deadline, mask })
    return { status: answer.statusCode, headers, body, url: hop.url }
  }

  #decoded(answer: Dispatcher.ResponseData, headers: Headers): Readable {
    try {
      return decodeBody(answer.body, headers.get('content-encoding'))
    } catch (error) {
      answer.body.on('error', () => undefined).destroy()
      throw error
    }
  }
}

/** Nothing to decompress: an empty gzip stream would otherwise pass for one that was cut short. */
function hasBody(hop: Hop, answer: Dispatcher.ResponseData, headers: Headers): boolean {
  return (
    hop.method !== 'HEAD' && ![204, 304].includes(answer.statusCode) && headers.get('content-length') !== '0'
  )
}

function toHeaders(raw: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(raw))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one)
  return headers
}
