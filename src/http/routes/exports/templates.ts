import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type ExportsApi, StoredTemplate, Template, TemplateSummary } from '../../../exports/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { paging, wanted } from '../paging.ts'
import { readRequestJson } from '../request-json.ts'
import { pageOf } from '../schemas.ts'
import { Applied, DryRun, namedActions, OneName, ofProject, projectFor, sendOrdered } from './named.ts'

const tags = ['exports']

const TemplateRequest = Type.Object(
  { template: Template },
  {
    title: 'TemplateRequest',
    additionalProperties: false,
    examples: [{ template: { id: 'Order', amount: 'Amount' } }],
  },
)

/** Templates that requests use by name: `template: {"use": name}`. */
export function templateRoutes(deps: HttpDeps, { templates }: ExportsApi): FastifyPluginAsyncTypebox {
  const actions = namedActions(deps, templates)
  return async (app) => {
    readRequestJson(app as unknown as FastifyInstance)

    app.put(
      '/api/templates/:name',
      {
        schema: {
          tags,
          operationId: 'putTemplate',
          summary: 'Store a template; another one makes a new version, the same one none',
          params: OneName,
          querystring: DryRun,
          body: TemplateRequest,
          response: { 200: Applied },
        },
      },
      (request, reply) => actions.put(request, reply, request.body.template),
    )

    app.get(
      '/api/templates/:name',
      {
        schema: {
          tags,
          operationId: 'getTemplate',
          summary: 'A template, in its newest version or another one',
          params: OneName,
          querystring: Type.Object({
            ...ofProject,
            version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
          }),
          response: { 200: StoredTemplate },
        },
      },
      async (request, reply) => {
        const { version } = request.query
        const which = version === undefined ? {} : { version }
        const found = await templates.get(projectFor(request), request.params.name, which)
        return sendOrdered(reply, found)
      },
    )

    app.get(
      '/api/templates',
      {
        schema: {
          tags,
          operationId: 'listTemplates',
          summary: "The project's templates by name, without their content",
          querystring: Type.Object({ ...paging, ...ofProject }),
          response: { 200: pageOf(TemplateSummary, 'TemplatePage') },
        },
      },
      async (request) => templates.list(projectFor(request), wanted(request.query)),
    )

    app.delete(
      '/api/templates/:name',
      {
        schema: {
          tags,
          operationId: 'deleteTemplate',
          summary: 'Take the name away; its versions can still be looked at',
          params: OneName,
          querystring: Type.Object(ofProject),
          response: { 204: Type.Null() },
        },
      },
      actions.remove,
    )
  }
}
