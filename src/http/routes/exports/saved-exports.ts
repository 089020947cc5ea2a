import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { type ExportsApi, type SavedBody, stringifyKeepingOrder } from '../../../exports/index.ts'
import { linkIssuerOf, ownProject, requireProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { keepKeyOrder } from '../keep-key-order.ts'
import { pageOf, paging, wanted } from '../paging.ts'
import { ExportTask } from './export-schemas.ts'
import { Applied, DryRun, OneName, RunWish, SavedExport, SavedExportBody, SavedRun } from './saved-schemas.ts'

const tags = ['exports']
const config = { access: 'project' } as const
const POLL_AFTER_SECONDS = '2'

/** Requests that are kept under a name, and run by hand or by a schedule. */
export function savedExportRoutes(deps: HttpDeps, { saved, exports }: ExportsApi): FastifyPluginAsyncTypebox {
  const { ledger, idempotency, trail } = deps
  return async (app) => {
    keepKeyOrder(app as unknown as FastifyInstance)

    app.put(
      '/api/saved-exports/:name',
      {
        config,
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
      async (request) => {
        const projectId = ownProject(request.principal)
        const { name } = request.params
        const { dry_run: dryRun = false } = request.query
        const body = request.body as SavedBody
        if (body.project_id !== undefined) requireProject(request.principal, body.project_id)
        const outcome = await ledger.transaction(async (tx) => {
          const done = await saved.put(tx, { projectId, name, dryRun }, body)
          if (!dryRun && done !== 'unchanged') trail.record(tx, request)
          return done
        })
        // Nothing was done that the audit log should know of.
        request.audited = true
        return { name, outcome }
      },
    )

    app.get(
      '/api/saved-exports/:name',
      {
        config,
        schema: {
          tags,
          operationId: 'getSavedExport',
          summary: 'A saved export without its secrets, when it runs next, and how it went last',
          params: OneName,
          response: { 200: SavedExport },
        },
      },
      async (request, reply) =>
        sendOrdered(reply, await saved.get(ownProject(request.principal), request.params.name)),
    )

    app.get(
      '/api/saved-exports',
      {
        config,
        schema: {
          tags,
          operationId: 'listSavedExports',
          summary: "The project's saved exports by name",
          querystring: Type.Object(paging),
          response: { 200: pageOf(SavedExport, 'SavedExportPage') },
        },
      },
      async (request, reply) =>
        sendOrdered(reply, await saved.list(ownProject(request.principal), wanted(request.query))),
    )

    app.delete(
      '/api/saved-exports/:name',
      {
        config,
        schema: {
          tags,
          operationId: 'deleteSavedExport',
          summary: 'Forget a saved export and its history; what it has made stays',
          params: OneName,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const projectId = ownProject(request.principal)
        await ledger.transaction((tx) => saved.delete(tx, projectId, request.params.name))
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/saved-exports/:name/run',
      {
        config: { ...config, idempotent: true },
        schema: {
          tags,
          operationId: 'runSavedExport',
          summary: 'Run it now, with other parameters if need be',
          params: OneName,
          body: Type.Union([RunWish, Type.Null()]),
          response: { 202: ExportTask },
        },
      },
      async (request, reply) => {
        const projectId = ownProject(request.principal)
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
        config,
        schema: {
          tags,
          operationId: 'listSavedExportRuns',
          summary: 'How its runs went, newest first',
          params: OneName,
          querystring: Type.Object(paging),
          response: { 200: pageOf(SavedRun, 'SavedExportRunPage') },
        },
      },
      (request) => saved.runs(ownProject(request.principal), request.params.name, wanted(request.query)),
    )
  }
}

function sendOrdered(reply: FastifyReply, value: unknown): never {
  return reply.type('application/json').send(stringifyKeepingOrder(value)) as never
}
