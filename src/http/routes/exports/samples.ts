import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { sampleOrders } from '../../../exports/index.ts'

const ORDERS = {
  answers: {
    200: {
      description: 'One page',
      content: {
        'application/json': {
          schema: Type.Object({
            total: Type.Integer(),
            data: Type.Array(Type.Record(Type.String(), Type.Unknown())),
          }),
        },
      },
    },
  },
}

/** A source to try things on, without a key: it has nothing to hide. */
export const sampleRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/samples/orders',
    {
      config: { access: 'open', unlimited: true, anyQuery: true, documented: ORDERS },
      schema: {
        tags: ['samples'],
        operationId: 'getSampleOrders',
        summary: 'Orders that are the same every time, as a source answers them',
        querystring: Type.Object({
          rows: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
          page: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
          page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
        }),
      },
    },
    async ({ query: { rows = 1000, page = 0, page_size = 500 } }) => sampleOrders(rows, page, page_size),
  )
}
