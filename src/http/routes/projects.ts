import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Project } from '../../engine/index.ts'
import type { HttpDeps } from '../http-deps.ts'
import { NewProject, ProjectChanges, ProjectDetails, ProjectView, Secrets } from './project-schemas.ts'
import { OneProject } from './schemas.ts'

/** Business systems register here. The keys in an answer are shown this once. */
export function projectRoutes(deps: HttpDeps): FastifyPluginAsyncTypebox {
  const { projects, transfers, idempotency, ledger } = deps
  const detailsOf = async (projectId: string) => {
    const project = await projects.require(ledger, projectId)
    return { ...toView(project), biz_ids: await transfers.businessesOf(projectId) }
  }

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

    app.get(
      '/api/projects/:project_id',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          summary: 'One project, and what was granted to it',
          params: OneProject,
          response: { 200: ProjectDetails },
        },
      },
      (request) => detailsOf(request.params.project_id),
    )

    app.put(
      '/api/projects/:project_id',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          summary: 'Change what is granted to a project; what is left out stays as it is',
          params: OneProject,
          body: ProjectChanges,
          response: { 200: ProjectDetails },
        },
      },
      async (request) => {
        const { project_id } = request.params
        const { biz_ids } = request.body
        await ledger.transaction(async (tx) => {
          await projects.require(tx, project_id)
          if (biz_ids !== undefined) await transfers.setBusinesses(tx, project_id, biz_ids)
        })
        return detailsOf(project_id)
      },
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
