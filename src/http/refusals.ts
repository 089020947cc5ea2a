import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { AppError, ERRORS, isAppError } from '../kernel/index.ts'
import { PROBLEM_TYPE, toProblem } from './answers/index.ts'

/** Two programs on the way could each believe another one. */
export function namesTwoHosts({ raw }: FastifyRequest): boolean {
  return raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1
}

/** There is no time left to answer this one. */
export function refuseLate(reply: FastifyReply): void {
  const problem = new AppError(ERRORS.SHUTTING_DOWN, 'this instance is shutting down; ask again', {
    retryAfter: 1,
  })
  const body = JSON.stringify(toProblem(problem, reply.request.id))
  reply.hijack()
  reply.raw
    .writeHead(problem.kind.http, {
      'Content-Type': PROBLEM_TYPE,
      'Content-Length': Buffer.byteLength(body),
      'X-Request-Id': reply.request.id,
      'Retry-After': '1',
      Connection: 'close',
    })
    .end(body)
}

/** Clients that name a type of the body for every request. For tus, the type of an empty piece has a meaning. */
export function namesTypeOfNothing({ method, headers, routeOptions }: FastifyRequest): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (hasBody || routeOptions.url?.startsWith('/api/uploads')) return false
  return ['POST', 'DELETE'].includes(method) || /^application\/json\b/i.test(headers['content-type'] ?? '')
}

/** A request that a stop has answered in place of its handler goes on until that one notices; that is no error. */
export function quietAfterAnswer(handler: RouteHandlerMethod): RouteHandlerMethod {
  return function (this: FastifyInstance, request, reply) {
    const answer = handler.call(this, request, reply)
    if (!(answer instanceof Promise)) return answer
    return answer.catch((error) => {
      if (!(reply.sent && isAppError(error, ERRORS.CALLER_GONE))) throw error
    })
  }
}

/** Nobody is left to read an answer, and what failed did so because of that. */
export function hasGone({ raw }: FastifyRequest, error: Error): boolean {
  const brokeOff = raw.errored != null && (error === raw.errored || error.cause === raw.errored)
  return brokeOff || raw.socket.destroyed
}

export function nothingAt({ method, url }: FastifyRequest): AppError {
  return new AppError(ERRORS.NOT_FOUND, `there is nothing at ${method} ${url.split('?')[0]}`)
}

export function notTaken({ method, url }: FastifyRequest, methods: readonly string[]): AppError {
  const message = `${url.split('?')[0]} does not take ${method}; it takes ${methods.join(', ')}`
  return new AppError(ERRORS.METHOD_NOT_ALLOWED, message, { details: { methods } })
}

/** That an address does not exist may be answered without a key. */
export function isNowhere({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url === undefined
}
