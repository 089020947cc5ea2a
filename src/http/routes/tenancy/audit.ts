import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { AuditEntry } from '../../../tenancy/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { nullable } from '../schemas.ts'

/** Who did what. */
export function auditRoutes({ audit }: HttpDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/audit',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['audit'],
          operationId: 'listAuditEntries',
          summary: 'Who did what, oldest first from `after`, or newest first from `before`',
          description:
            'Ask again with `after` = `next_after`, or with `before` = `next_before`, for what follows.',
          querystring: Type.Object({
            after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
            before: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: Number.MAX_SAFE_INTEGER,
                description:
                  'newest first, entries with a lower seq; the largest whole number begins at the end',
              }),
            ),
            actor: Type.Optional(Type.String()),
            action: Type.Optional(Type.String()),
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
          }),
          response: {
            200: Type.Object({
              items: Type.Array(AuditEntry),
              next_after: nullable(Type.Integer()),
              next_before: nullable(Type.Integer()),
            }),
          },
        },
      },
      async ({ query: { after = 0, before, actor, action, limit = 100 } }) => {
        const items = await audit.read({ after, before, actor, action, limit })
        const next = items.length < limit ? null : (items.at(-1)?.seq ?? null)
        const backwards = before !== undefined
        return {
          items,
          next_after: backwards ? null : next,
          next_before: backwards ? next : null,
        }
      },
    )
  }
}
