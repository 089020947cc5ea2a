import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
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
      // The schema names the domains of Wharf itself.
      () => overview.read() as Promise<Static<typeof OverviewAnswer>>,
    )
  }
}
