import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { HttpDeps } from '../http-deps.ts'
import { Session } from './project-schemas.ts'

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
          scopes: principal?.role === 'project' ? [...principal.scopes] : null,
          seq: await engine.events.last(),
        }
      },
    )
  }
}
