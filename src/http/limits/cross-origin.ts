import type { FastifyReply, FastifyRequest } from 'fastify'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const SENT = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Range',
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'Upload-Defer-Length',
].join(', ')
const READ = [
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Upload-Offset',
  'X-Request-Id',
].join(', ')
const PREFLIGHT_SECONDS = '600'

/**
 * Lets pages of the named origins read answers. What opens an answer is the key or ticket in the request, never a cookie: no
 * credentials of the browser are allowed, so a page gets no more than what it shows itself.
 */
export class CrossOrigin {
  readonly #origins: ReadonlySet<string>

  /** Origins like `https://shop.example.com`, or `*`. */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
  }

  /** True if the request was the question of a browser whether it may ask, and is answered. */
  allow({ method, headers }: FastifyRequest, reply: FastifyReply): boolean {
    if (this.#origins.size === 0) return false
    reply.header('Vary', 'Origin')
    const { origin } = headers
    if (origin === undefined || !(this.#origins.has('*') || this.#origins.has(origin))) return false
    reply.headers({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': READ })
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
    reply.headers({
      'Access-Control-Allow-Methods': METHODS,
      'Access-Control-Allow-Headers': SENT,
      'Access-Control-Max-Age': PREFLIGHT_SECONDS,
    })
    reply.code(204).send()
    return true
  }
}
