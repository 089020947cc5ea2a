import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { refuseSocket } from '../answers/index.ts'

export interface BodyLimits {
  /** A body that is no file must be there after this long. */
  smallMs: number
  /** A file must come with at least `minBytesPerSecond`, judged over this long. */
  paceMs: number
  minBytesPerSecond: number
}

/** Cuts a request whose body comes too slowly, so that slow senders cannot hold connections. */
export function watchBody(request: FastifyRequest, reply: FastifyReply, limits: BodyLimits): void {
  const { raw } = request
  if (raw.complete || !hasBody(request)) return
  const { socket } = raw
  const file = request.routeOptions.config.file ?? false
  let seen = socket.bytesRead
  const look = () => {
    if (raw.complete || socket.destroyed) return clearInterval(timer)
    const bytes = socket.bytesRead - seen
    seen = socket.bytesRead
    // What has arrived and was not taken yet waits for us, not for the client.
    const enough = bytes * 1_000 >= limits.minBytesPerSecond * limits.paceMs || raw.readableLength > 0
    if (!file || !enough) cut(request, reply)
  }
  const timer = setInterval(look, file ? limits.paceMs : limits.smallMs).unref()
  raw.once('close', () => clearInterval(timer))
  // Node drops the rest of a body only if nothing of it was read. A rest that nobody reads would block the connection for ever.
  reply.raw.once('finish', () => raw.resume())
}

function cut({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): void {
  if (response.headersSent) socket.destroy()
  else refuseSocket(socket, new AppError(ERRORS.BODY_TOO_SLOW, 'the body of the request came too slowly'))
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
