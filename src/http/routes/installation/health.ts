import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { type MetricsAccess, mayReadMetrics } from '../../metrics/index.ts'

const METRICS = {
  answers: {
    200: {
      description: 'In the text format of Prometheus',
      content: { 'text/plain': { schema: Type.String() } },
    },
  },
}

const open = { config: { access: 'open' as const, unlimited: true } }

/** For load balancers and monitoring. Redis is not part of being ready: without it requests are still accepted. */
export function healthRoutes(
  { ledger, metrics, diskRoom, isDraining }: HttpDeps,
  metricsAccess: MetricsAccess,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/livez',
      {
        ...open,
        schema: {
          tags: ['health'],
          operationId: 'getLiveness',
          summary: 'Is the process alive?',
          response: { 200: Type.Object({ status: Type.Literal('ok') }) },
        },
      },
      async () => ({ status: 'ok' as const }),
    )

    const Ready = Type.Object(
      {
        status: Type.String(),
        ledger: Type.String(),
        writes: Type.Boolean({
          description: 'false: the disk is full or the ledger is away, so nothing new is accepted',
        }),
      },
      { title: 'Readiness' },
    )
    app.get(
      '/readyz',
      {
        ...open,
        schema: {
          tags: ['health'],
          operationId: 'getReadiness',
          summary: 'Can it take requests?',
          response: { 200: Ready, 503: Ready },
        },
      },
      async (_request, reply) => {
        const answer = await ledger.ping()
        const writes = answer === true && !(await diskRoom.isFull())
        if (answer === true && !isDraining()) return { status: 'ready', ledger: 'ok', writes }
        return reply
          .code(503)
          .header('Retry-After', 2)
          .send({
            status: isDraining() ? 'shutting down' : 'not ready',
            ledger: answer === true ? 'ok' : answer,
            writes,
          })
      },
    )

    if (metricsAccess.port !== null) return
    app.get(
      '/metrics',
      {
        config: { ...open.config, ownAccess: true, documented: METRICS },
        schema: {
          tags: ['health'],
          operationId: 'getMetrics',
          summary: 'Prometheus metrics; they need a token where one is set',
        },
      },
      async (request, reply) => {
        if (!mayReadMetrics(request.headers.authorization, metricsAccess))
          throw new AppError(ERRORS.UNAUTHENTICATED, 'this needs WHARF_METRICS_TOKEN or the admin token')
        return reply.type(metrics.contentType).send(await metrics.read())
      },
    )
  }
}
