import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type ExportsApi, stringifyKeepingOrder } from '../../../exports/index.ts'
import { ownProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { keepKeyOrder } from '../keep-key-order.ts'
import { pageOf, paging, wanted } from '../paging.ts'
import { Time } from '../schemas.ts'
import { Applied, DryRun, OneName } from './saved-schemas.ts'

const tags = ['exports']
const config = { access: 'project' } as const

/** The store checks it; the API document describes it. */
const Content = Type.Unknown({ title: 'Template' })

const Summary = {
  name: Type.String(),
  version: Type.Integer({ description: 'grows with each change' }),
  created_at: Time,
  updated_at: Time,
}
const Template = Type.Object({ ...Summary, template: Content }, { title: 'StoredTemplate' })

const TemplateRequest = Type.Object(
  { template: Content },
  {
    title: 'TemplateRequest',
    additionalProperties: false,
    examples: [{ template: { id: 'Order', amount: 'Amount' } }],
  },
)

/** Templates that requests use by name: `template: {"use": name}`. */
export function templateRoutes(
  { ledger, trail }: HttpDeps,
  { templates }: ExportsApi,
): FastifyPluginAsyncTypebox {
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
      async (request) => {
        const projectId = ownProject(request.principal)
        const { name } = request.params
        const { dry_run: dryRun = false } = request.query
        const outcome = await ledger.transaction(async (tx) => {
          const done = await templates.put(tx, { projectId, name, dryRun }, request.body.template)
          if (!dryRun && done !== 'unchanged') trail.record(tx, request)
          return done
        })
        // Nothing was done that the audit log should know of.
        request.audited = true
        return { name, outcome }
      },
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
          response: { 200: Template },
        },
      },
      async (request, reply) => {
        const { version } = request.query
        const which = version === undefined ? {} : { version }
        const found = await templates.get(ownProject(request.principal), request.params.name, which)
        return reply.type('application/json').send(stringifyKeepingOrder(found) as never)
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
          response: { 200: pageOf(Type.Object(Summary, { title: 'TemplateSummary' }), 'TemplatePage') },
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
      async (request, reply) => {
        const projectId = ownProject(request.principal)
        await ledger.transaction((tx) => templates.delete(tx, projectId, request.params.name))
        return reply.code(204).send(null)
      },
    )
  }
}
