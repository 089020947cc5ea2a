import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Span } from '../kernel/index.ts'

const spans = new WeakMap<FastifyRequest, Span>()

/**
 * One span per request, below the caller's `traceparent` where there is one. What the request makes, jobs above all, is
 * below it. Health checks and the console's files are no part of any trace.
 */
export function traceRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { url: route, config } = request.routeOptions
    if (route === undefined || config.unlimited) return done()
    const span = new Span(`${request.method} ${route}`, {
      kind: 'server',
      parent: String(request.headers.traceparent ?? ''),
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'wharf.request.id': request.id,
      },
    })
    if (!span.context) return done()
    spans.set(request, span)
    span.run(done)
  })
  // A body arrives on events of the connection, which belong to no request.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request)
    if (span) span.run(done)
    else done()
  })
  app.addHook('onResponse', async (request, reply) => endSpan(request, reply))
  app.addHook('onRequestAbort', async (request) => spans.get(request)?.end('the caller has gone'))
}

function endSpan(request: FastifyRequest, { statusCode }: FastifyReply): void {
  const span = spans.get(request)
  span?.set({ 'http.response.status_code': statusCode })
  span?.end(statusCode >= 500 ? `status ${statusCode}` : undefined)
}
