import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Project } from '../../engine/index.ts'
import type { HttpDeps } from '../http-deps.ts'
import { NewProject, ProjectView, Secrets } from './project-schemas.ts'
import { OneProject } from './schemas.ts'

/** Business systems register here. The keys in an answer are shown this once. */
export function projectRoutes({ projects, idempotency, ledger }: HttpDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/projects',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          summary: 'Register a project',
          body: NewProject,
          response: { 201: Type.Intersect([ProjectView, Secrets]) },
        },
      },
      (request, reply) =>
        idempotency.answer(request, reply, async (tx) => {
          const project = await projects.create(tx, request.body.name)
          const secrets = { api_key: project.apiKey, webhook_secret: project.webhookSecret }
          return { status: 201, body: { ...toView(project), ...secrets } }
        }),
    )

    app.get(
      '/api/projects',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          summary: 'List projects',
          response: { 200: Type.Object({ items: Type.Array(ProjectView) }) },
        },
      },
      async () => ({ items: (await projects.list()).map(toView) }),
    )

    app.post(
      '/api/projects/:project_id/rotate',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          summary: 'Replace a key or secret; the old one stays good for a day',
          params: OneProject,
          body: Type.Object(
            { what: Type.Enum(['api_key', 'webhook_secret']) },
            { additionalProperties: false },
          ),
          response: {
            200: Type.Partial(Type.Intersect([OneProject, Secrets])),
          },
        },
      },
      (request, reply) =>
        idempotency.answer(request, reply, async (tx) => {
          const { project_id } = request.params
          const { what } = request.body
          return { status: 200, body: { project_id, [what]: await projects.rotate(tx, project_id, what) } }
        }),
    )

    app.delete(
      '/api/projects/:project_id',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          summary: 'Delete a project that has no unfinished tasks',
          params: OneProject,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await ledger.transaction((tx) => projects.delete(tx, request.params.project_id))
        return reply.code(204).send(null)
      },
    )
  }
}

function toView(project: Project) {
  return { project_id: project.id, name: project.name, created_at: new Date(project.createdAt).toISOString() }
}
