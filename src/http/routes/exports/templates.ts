import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type ExportsApi, StoredTemplate, Template, TemplateSummary } from '../../../exports/index.ts'
import { ownProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { keepKeyOrder } from '../keep-key-order.ts'
import { paging, wanted } from '../paging.ts'
import { pageOf } from '../schemas.ts'
import { Applied, DryRun, namedActions, OneName, sendOrdered } from './named.ts'

const tags = ['exports']
const config = { access: 'project' } as const

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
    keepKeyOrder(app as unknown as FastifyInstance)

    app.put(
      '/api/templates/:name',
      {
        config,
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
      (request) => actions.put(request, request.body.template),
    )

    app.get(
      '/api/templates/:name',
      {
        config,
        schema: {
          tags,
          operationId: 'getTemplate',
          summary: 'A template, in its newest version or another one',
          params: OneName,
          querystring: Type.Object({
            version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
          }),
          response: { 200: StoredTemplate },
        },
      },
      async (request, reply) => {
        const { version } = request.query
        const which = version === undefined ? {} : { version }
        const found = await templates.get(ownProject(request.principal), request.params.name, which)
        return sendOrdered(reply, found)
      },
    )

    app.get(
      '/api/templates',
      {
        config,
        schema: {
          tags,
          operationId: 'listTemplates',
          summary: "The project's templates by name, without their content",
          querystring: Type.Object(paging),
          response: { 200: pageOf(TemplateSummary, 'TemplatePage') },
        },
      },
      (request) => templates.list(ownProject(request.principal), wanted(request.query)),
    )

    app.delete(
      '/api/templates/:name',
      {
        config,
        schema: {
          tags,
          operationId: 'deleteTemplate',
          summary: 'Take the name away; its versions can still be looked at',
          params: OneName,
          response: { 204: Type.Null() },
        },
      },
      actions.remove,
    )
  }
}
