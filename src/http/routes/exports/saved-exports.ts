import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import {
  type ExportsApi,
  ExportTask,
  Parameters,
  SavedExport,
  SavedRun,
  Schedule,
} from '../../../exports/index.ts'
import { linkIssuerOf, requireProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { paging, wanted } from '../paging.ts'
import { readRequestJson } from '../request-json.ts'
import { pageOf } from '../schemas.ts'
import { ExportRequestBody } from './export-schemas.ts'
import { Applied, DryRun, namedActions, OneName, ofProject, projectFor, sendOrdered } from './named.ts'

const tags = ['exports']
const POLL_AFTER_SECONDS = '2'

const IF_MATCH = {
  'If-Match': Type.Optional(
    Type.String({
      description: 'The `ETag` of the version that is meant; another one is left as it is, with a 412',
    }),
  ),
}
const IF_NONE_MATCH = {
  'If-None-Match': Type.Optional(Type.String({ description: '`*`: only if there is none of that name yet' })),
}

/** A request, and when it runs by itself. */
const SavedExportBody = Type.Object(
  {
    ...ExportRequestBody.properties,
    schedule: Type.Optional(Schedule),
    parameters: Type.Optional(Parameters),
  },
  {
    title: 'SavedExportRequest',
    examples: [
      {
        source_url: 'https://erp.example.com/api/orders?month={{month}}',
        type: 'excel',
        parameters: { month: '2026-01' },
        schedule: { cron: '0 6 1 * *', timezone: 'Europe/Berlin' },
      },
    ],
    additionalProperties: false,
  },
)

const RunWish = Type.Object(
  { parameters: Type.Optional(Parameters) },
  { title: 'SavedExportRunRequest', additionalProperties: false },
)

/** Requests that are kept under a name, and run by hand or by a schedule. */
export function savedExportRoutes(deps: HttpDeps, { saved, exports }: ExportsApi): FastifyPluginAsyncTypebox {
  const { idempotency } = deps
  const actions = namedActions(deps, saved)
  return async (app) => {
    readRequestJson(app as unknown as FastifyInstance)

    app.put(
      '/api/saved-exports/:name',
      {
        config: { documented: { headers: { ...IF_MATCH, ...IF_NONE_MATCH } } },
        schema: {
          tags,
          operationId: 'putSavedExport',
          summary: 'Keep a request under a name, with its parameters and its schedule',
          params: OneName,
          querystring: DryRun,
          body: SavedExportBody,
          response: { 200: Applied },
        },
      },
      (request, reply) => {
        const { body, principal } = request
        if (body.project_id !== undefined) requireProject(principal, body.project_id)
        return actions.put(request, reply, body)
      },
    )

    app.get(
      '/api/saved-exports/:name',
      {
        schema: {
          tags,
          operationId: 'getSavedExport',
          summary: 'A saved export without its secrets, when it runs next, and how it went last',
          params: OneName,
          querystring: Type.Object(ofProject),
          response: { 200: SavedExport },
        },
      },
      async (request, reply) => {
        const view = await saved.get(projectFor(request), request.params.name)
        return sendOrdered(reply.header('etag', view.etag), view)
      },
    )

    app.get(
      '/api/saved-exports',
      {
        schema: {
          tags,
          operationId: 'listSavedExports',
          summary: "The project's saved exports by name",
          querystring: Type.Object({ ...paging, ...ofProject }),
          response: { 200: pageOf(SavedExport, 'SavedExportPage') },
        },
      },
      async (request, reply) =>
        sendOrdered(reply, await saved.list(projectFor(request), wanted(request.query))),
    )

    app.delete(
      '/api/saved-exports/:name',
      {
        config: { documented: { headers: IF_MATCH } },
        schema: {
          tags,
          operationId: 'deleteSavedExport',
          summary: 'Forget a saved export and its history; what it has made stays',
          params: OneName,
          querystring: Type.Object(ofProject),
          response: { 204: Type.Null() },
        },
      },
      actions.remove,
    )

    app.post(
      '/api/saved-exports/:name/run',
      {
        config: { idempotent: true },
        schema: {
          tags,
          operationId: 'runSavedExport',
          summary: 'Run it now, with other parameters if need be',
          params: OneName,
          querystring: Type.Object(ofProject),
          body: Type.Union([RunWish, Type.Null()]),
          response: { 202: ExportTask },
        },
      },
      async (request, reply) => {
        const projectId = projectFor(request)
        const given = request.body?.parameters ?? {}
        const refused = await exports.refusal(projectId)
        await idempotency.answer(request, reply, async (tx) => {
          if (refused) throw refused
          const issuer = linkIssuerOf(request, deps.proxies)
          const view = await saved.run(tx, projectId, request.params.name, { given, issuer })
          const headers = { Location: `/api/exports/${view.task_id}`, 'Retry-After': POLL_AFTER_SECONDS }
          return { status: 202, headers, body: view }
        })
      },
    )

    app.get(
      '/api/saved-exports/:name/runs',
      {
        schema: {
          tags,
          operationId: 'listSavedExportRuns',
          summary: 'How its runs went, newest first',
          params: OneName,
          querystring: Type.Object({ ...paging, ...ofProject }),
          response: { 200: pageOf(SavedRun, 'SavedExportRunPage') },
        },
      },
      async (request) => saved.runs(projectFor(request), request.params.name, wanted(request.query)),
    )
  }
}
