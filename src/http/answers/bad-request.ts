import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { PROBLEM_TYPE, retryAfterOf, toProblem } from './problem.ts'

/** Answers over a socket without a request object, and closes it. */
export function refuseSocket(socket: Duplex, error: AppError): void {
  const requestId = randomUUID()
  const body = JSON.stringify(toProblem(error, requestId))
  const retryAfter = retryAfterOf(error)
  const head = [
    `HTTP/1.1 ${error.kind.http} ${STATUS_CODES[error.kind.http] ?? 'Error'}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
  ]
  // A peer that never closes its side must not keep ours.
  socket.once('finish', () => socket.destroy())
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** What the HTTP parser could not make a request of. */
export function refuseBytes(error: Error & { code?: string }, socket: Duplex): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  refuseSocket(socket, parserProblem(error))
}

function parserProblem(error: Error & { code?: string }): AppError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError(ERRORS.HEADERS_TOO_LARGE, 'the request line and the headers are too long', {
        cause: error,
      })
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError(ERRORS.REQUEST_TOO_SLOW, 'the request did not arrive in time', { cause: error })
    default:
      return new AppError(ERRORS.REQUEST_INVALID, 'this is no HTTP request', { cause: error })
  }
}
