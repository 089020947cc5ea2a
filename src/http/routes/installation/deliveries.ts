import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DeliveryLog, DeliveryPage } from '../../../notify/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { paging, wanted } from '../paging.ts'

/** How callbacks and notices of all projects went. */
export function deliveryRoutes({ ledger }: HttpDeps): FastifyPluginAsyncTypebox {
  const deliveries = new DeliveryLog(ledger)
  return async (app) => {
    app.get(
      '/api/deliveries',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['exports'],
          operationId: 'listDeliveries',
          summary: 'Attempts to call back and to notify, of all projects, newest first',
          querystring: Type.Object({
            failed: Type.Optional(Type.Boolean({ description: 'only those that did not arrive' })),
            ...paging,
          }),
          response: { 200: DeliveryPage },
        },
      },
      ({ query }) => deliveries.list(wanted(query, 'failed')),
    )
  }
}
