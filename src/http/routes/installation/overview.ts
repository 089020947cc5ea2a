import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { HttpDeps } from '../../http-deps.ts'
import { OverviewAnswer } from './overview-schemas.ts'

/** How the whole installation does. */
export function overviewRoutes({ overview }: HttpDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/overview',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['overview'],
          operationId: 'getOverview',
          summary: 'Queues, rates, failures and durations over the last hour; instances, and who leads',
          response: { 200: OverviewAnswer },
        },
      },
      () => overview.read(),
    )
  }
}
