import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { HttpDeps } from '../../http-deps.ts'
import { nullable, Time } from '../schemas.ts'

const AuditEntry = Type.Object(
  {
    seq: Type.Integer(),
    at: Time,
    actor: Type.String({ description: "admin, 'key KEY_ID', ticket, or command" }),
    action: Type.String({ description: 'like project.created' }),
    project_id: nullable(Type.String()),
    target: Type.String({ description: 'ids of what it was done to' }),
    address: nullable(Type.String()),
    detail: nullable(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'AuditEntry' },
)

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
          items: items as never,
          next_after: backwards ? null : next,
          next_before: backwards ? next : null,
        }
      },
    )
  }
}
