import { AppError, ERRORS, type ErrorKind, messageOf } from '../kernel/index.ts'
import { parseRetryAfter } from './retry-after.ts'

/** A status that may be another one soon; all other errors come back the same. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504])

const BY_CODE: Record<string, ErrorKind> = {
  UND_ERR_HEADERS_TIMEOUT: ERRORS.HTTP_TIMEOUT,
  UND_ERR_BODY_TIMEOUT: ERRORS.HTTP_TIMEOUT,
  UND_ERR_CONNECT_TIMEOUT: ERRORS.CONNECT_FAILED,
  UND_ERR_SOCKET: ERRORS.CONNECTION_LOST,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ERRORS.CONNECTION_LOST,
  ECONNRESET: ERRORS.CONNECTION_LOST,
  EPIPE: ERRORS.CONNECTION_LOST,
  ETIMEDOUT: ERRORS.CONNECTION_LOST,
  UND_ERR_HEADERS_OVERFLOW: ERRORS.HTTP_MALFORMED,
  UND_ERR_RESPONSE: ERRORS.HTTP_MALFORMED,
  UND_ERR_INVALID_ARG: ERRORS.REQUEST_INVALID,
  UND_ERR_DESTROYED: ERRORS.SHUTTING_DOWN,
  UND_ERR_CLOSED: ERRORS.SHUTTING_DOWN,
}

/** Turns whatever undici, a socket or zlib threw into the error that callers know. */
export function toHttpError(error: unknown, url: URL, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof AppError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const kind = BY_CODE[code] ?? byFamily(error, code)
  if (!kind) return error
  const retryable = kind !== ERRORS.REQUEST_INVALID
  return new AppError(kind, `${url.host}: ${messageOf(error)}`, { cause: error, retryable })
}

function byFamily(error: unknown, code: string): ErrorKind | undefined {
  if (error instanceof Error && error.name === 'HTTPParserError') return ERRORS.HTTP_MALFORMED
  if (/^(Z_|ERR_BROTLI|ERR__ERROR_FORMAT|ERR_PADDING|ZSTD_|ERR_ZSTD)/.test(code))
    return ERRORS.BODY_ENCODING_BROKEN
  if (/^(ERR_(?:SSL|TLS|OSSL)|ERR_STREAM_PREMATURE_CLOSE)/.test(code)) return ERRORS.CONNECTION_LOST
  return undefined
}

/** Lets 2xx pass and throws `HTTP_STATUS` for the rest, with the wait that the other side asks for. */
export function expectOk(response: { status: number; headers: Headers; url: URL }, now: number): void {
  const { status } = response
  if (status >= 200 && status < 300) return
  const wait = parseRetryAfter(response.headers.get('retry-after'), now)
  throw new AppError(ERRORS.HTTP_STATUS, `${response.url.host} answered with status ${status}`, {
    retryable: PASSING.has(status),
    details: { status },
    ...(wait === undefined ? {} : { retryAfter: wait }),
  })
}
