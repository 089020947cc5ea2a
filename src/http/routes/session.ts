import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { HttpDeps } from '../http-deps.ts'
import { nullable } from './schemas.ts'

const Session = Type.Object({
  role: Type.Enum(['admin', 'project']),
  project_id: nullable(Type.String()),
  project_name: nullable(Type.String()),
  seq: Type.Integer({ description: 'the newest event; what is read after this answer is at least as new' }),
})

/** Whose key this is, and where the event log stands: a reader takes its snapshots next, and then follows from `seq`. */
export function sessionRoutes({ engine }: HttpDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/session',
      { schema: { tags: ['events'], summary: 'Whose key this is', response: { 200: Session } } },
      async ({ principal }) => {
        const project = principal?.role === 'project' ? principal.project : null
        return {
          role: project ? ('project' as const) : ('admin' as const),
          project_id: project?.id ?? null,
          project_name: project?.name ?? null,
          seq: await engine.events.last(),
        }
      },
    )
  }
}
