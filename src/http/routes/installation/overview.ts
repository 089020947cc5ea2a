import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { DomainOverview, InstanceOverview } from '../../../jobs/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { nullable, Time } from '../schemas.ts'

const domains = Type.Object({
  exports: DomainOverview,
  transfers: DomainOverview,
  runs: DomainOverview,
  processing: DomainOverview,
})

export type OverviewAnswer = Static<typeof OverviewAnswer>
const OverviewAnswer = Type.Object(
  { at: Time, domains, instances: Type.Array(InstanceOverview), leader: nullable(Type.String()) },
  { title: 'Overview' },
)

/** The state of the whole installation. */
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
      // The schema names Wharf's own domains; the overview itself takes any.
      () => overview.read() as Promise<OverviewAnswer>,
    )
  }
}
