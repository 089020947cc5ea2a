import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { EXPORT_SORTS, type ExportsApi } from '../../../exports/index.ts'
import { linkIssuerOf, requireProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { paging, wanted } from '../paging.ts'
import { OneProject } from '../schemas.ts'
import { ExportFilterFields, ExportPage, filterOf } from './export-schemas.ts'

const tags = ['exports']

const ListQuery = Type.Object({
  ...ExportFilterFields,
  sort: Type.Optional(
    Type.Enum([...EXPORT_SORTS], {
      description: '`-created` when missing, `-finished` with `ended_from`; over all projects no other',
    }),
  ),
  total: Type.Optional(Type.Boolean({ description: 'count them too: exactly up to 10,000' })),
  ...paging,
})

/** What was asked for: one project's, or everybody's. */
export function exportListRoutes({
  exports,
  proxies,
}: HttpDeps & Pick<ExportsApi, 'exports'>): FastifyPluginAsyncTypebox {
  const answer = async (
    request: FastifyRequest,
    query: Static<typeof ListQuery>,
    projectId: string | undefined,
  ) => {
    const filter = { ...filterOf(query), ...(projectId !== undefined && { projectId }) }
    const page = await exports.list({ ...filter, ...wanted(query, 'sort') }, linkIssuerOf(request, proxies))
    return query.total ? { ...page, total: await exports.total(filter) } : page
  }

  return async (app) => {
    app.get(
      '/api/projects/:project_id/exports',
      {
        schema: {
          tags,
          operationId: 'listExports',
          summary: "A project's exports, newest first or as `sort` says",
          params: OneProject,
          querystring: ListQuery,
          response: { 200: ExportPage },
        },
      },
      (request) => {
        const { project_id } = request.params
        requireProject(request.principal, project_id)
        return answer(request, request.query, project_id)
      },
    )

    app.get(
      '/api/exports',
      {
        schema: {
          tags,
          operationId: 'listAllExports',
          summary: "The exports of all projects, for the admin; with a project's key, its own",
          querystring: Type.Object({ project_id: Type.Optional(Type.String()), ...ListQuery.properties }),
          response: { 200: ExportPage },
        },
      },
      (request) => {
        const { principal, query } = request
        const { project_id = principal?.role === 'project' ? principal.project.id : undefined } = query
        if (project_id !== undefined) requireProject(principal, project_id)
        return answer(request, query, project_id)
      },
    )

    app.get(
      '/api/projects/:project_id/operators',
      {
        schema: {
          tags,
          operationId: 'listOperators',
          summary: 'Those who have asked for exports of a project, by name; at most 500',
          params: OneProject,
          querystring: Type.Object({ prefix: Type.Optional(Type.String({ maxLength: 200 })) }),
          response: { 200: Type.Object({ items: Type.Array(Type.String()) }, { title: 'OperatorList' }) },
        },
      },
      async (request) => {
        const { project_id } = request.params
        requireProject(request.principal, project_id)
        return { items: await exports.operators(project_id, request.query.prefix) }
      },
    )
  }
}
