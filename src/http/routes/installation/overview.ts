import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { HttpDeps } from '../../http-deps.ts'
import {
  AttentionAnswer,
  HealthAnswer,
  HistoryAnswer,
  HistoryRange,
  OverviewAnswer,
} from './overview-answers.ts'

const config = { access: 'admin' } as const
const tags = ['overview']

/** The state of the whole installation. The schemas name Wharf's own domains; the overview itself takes any. */
export function overviewRoutes({ overview, examination }: HttpDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/overview',
      {
        config,
        schema: {
          tags,
          operationId: 'getOverview',
          summary: 'Queues, rates, failures and durations over the last hour; instances, and who leads',
          response: { 200: OverviewAnswer },
        },
      },
      () => overview.read() as Promise<OverviewAnswer>,
    )

    app.get(
      '/api/overview/history',
      {
        config,
        schema: {
          tags,
          operationId: 'getOverviewHistory',
          summary: 'What ended well or failed, step by step, from the last hour to the last 30 days',
          querystring: Type.Object({ range: Type.Optional(HistoryRange) }),
          response: { 200: HistoryAnswer },
        },
      },
      ({ query: { range = '1h' } }) => overview.history(range) as Promise<HistoryAnswer>,
    )

    app.get(
      '/api/overview/attention',
      {
        config,
        schema: {
          tags,
          operationId: 'getAttention',
          summary: 'What failed last and what waits longest',
          response: { 200: AttentionAnswer },
        },
      },
      async () => {
        const domains = await overview.attention()
        return { domains } as AttentionAnswer
      },
    )

    app.get(
      '/api/overview/health',
      {
        config,
        schema: {
          tags,
          operationId: 'getHealth',
          summary: 'The parts of the installation as `wharf doctor` sees them, at most a minute ago',
          response: { 200: HealthAnswer },
        },
      },
      () => examination.latest(),
    )
  }
}
