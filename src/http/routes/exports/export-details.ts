import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  AskedFor,
  ExportManifest,
  ExportPosition,
  ExportReport,
  type ExportsApi,
  ExportTask,
  type ExportView,
  RenderWish,
} from '../../../exports/index.ts'
import { DeliveryLog, eventHistory } from '../../../notify/index.ts'
import type { ProjectStore } from '../../../tenancy/index.ts'
import { sendFile } from '../../answers/index.ts'
import { actorOf, issuerOf, linkIssuerOf, type Principal, personOf } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { EXPORT_FILE } from '../../openapi/index.ts'
import { nullable, OneTask, Ticket, Time } from '../schemas.ts'
import { Deliveries, Downloads } from './export-schemas.ts'
import { sendOrdered } from './named.ts'

const tags = ['exports']

/** What belongs to one export: its history, its callbacks, its place, its file. `find` throws for strangers. */
export function exportDetailRoutes(
  {
    exports,
    callbacks,
    ledger,
    engine,
    projects,
    after,
    trail,
    idempotency,
    proxies,
  }: HttpDeps & Pick<ExportsApi, 'exports'>,
  find: (request: FastifyRequest) => Promise<ExportView>,
): FastifyPluginAsyncTypebox {
  const deliveries = new DeliveryLog(ledger)
  return async (app) => {
    app.get(
      '/api/exports/:task_id/events',
      {
        config: { access: 'ticket' },
        schema: {
          tags,
          operationId: 'listExportEvents',
          summary: 'Everything that happened to it',
          params: OneTask,
          querystring: Type.Object({
            progress: Type.Optional(
              Type.Enum(['all', 'stages'], {
                description:
                  'stages: of the progress within a stage only the first and the last, and the whole history however long; all (default): its first thousand events',
              }),
            ),
          }),
          response: { 200: Type.Object({ items: Type.Array(Type.Unknown({ title: 'EventMessage' })) }) },
        },
      },
      async (request) => {
        const { task_id } = await find(request)
        return { items: await eventHistory(engine, { taskId: task_id }, request.query) }
      },
    )

    app.get(
      '/api/exports/:task_id/deliveries',
      {
        schema: {
          tags,
          operationId: 'listExportDeliveries',
          summary: 'Attempts to call back',
          params: OneTask,
          response: { 200: Deliveries },
        },
      },
      async (request) => ({ items: await deliveries.ofTask((await find(request)).task_id) }),
    )

    app.get(
      '/api/exports/:task_id/callback',
      {
        schema: {
          tags,
          operationId: 'getExportCallback',
          summary: 'The body of its callback, as it would be sent now',
          params: OneTask,
          response: {
            200: Type.Object(
              {
                type: Type.String(),
                timestamp: Time,
                data: Type.Unknown({ description: 'the task with its report' }),
              },
              { title: 'ExportCallbackBody' },
            ),
          },
        },
      },
      async (request) => {
        const { task_id, status } = await find(request)
        return callbacks.body(task_id, { kind: 'export', status })
      },
    )

    app.post(
      '/api/exports/:task_id/deliveries/resend',
      {
        config: { idempotent: true },
        schema: {
          tags,
          operationId: 'resendCallback',
          summary: 'Call back once more, at once, whatever came of it before',
          params: OneTask,
          response: { 202: ExportTask },
        },
      },
      async (request, reply) => {
        const view = await find(request)
        await idempotency.answer(request, reply, async (tx) => {
          await callbacks.resend(tx, view.task_id, { kind: 'export', status: view.status })
          return { status: 202, body: view }
        })
      },
    )

    app.get(
      '/api/exports/:task_id/downloads',
      {
        schema: {
          tags,
          operationId: 'listExportDownloads',
          summary: 'Who fetched the file, and when',
          params: OneTask,
          response: { 200: Downloads },
        },
      },
      async (request) => ({ items: await exports.files.downloads((await find(request)).task_id) }),
    )

    app.get(
      '/api/exports/:task_id/report',
      {
        config: { access: 'ticket' },
        schema: {
          tags,
          operationId: 'getExportReport',
          summary: 'What is known of the file: rows, columns, parts',
          params: OneTask,
          response: { 200: ExportReport },
        },
      },
      async (request) => exports.files.report((await find(request)).task_id),
    )

    app.get(
      '/api/exports/:task_id/manifest',
      {
        config: { access: 'ticket' },
        schema: {
          tags,
          operationId: 'getExportManifest',
          summary: 'The report, signed by this installation; `wharf verify` checks it',
          params: OneTask,
          response: { 200: ExportManifest },
        },
      },
      async (request) => exports.files.manifest((await find(request)).task_id),
    )

    app.get(
      '/api/exports/:task_id/position',
      {
        schema: {
          tags,
          operationId: 'getExportPosition',
          summary: 'Its place in the queue, and which limit holds it',
          params: OneTask,
          response: { 200: ExportPosition },
        },
      },
      async (request) => exports.position((await find(request)).task_id),
    )

    app.get(
      '/api/exports/:task_id/request',
      {
        schema: {
          tags,
          operationId: 'getExportRequest',
          summary: 'The request as it was carried out and as it was written, without its secrets',
          params: OneTask,
          response: { 200: AskedFor },
        },
      },
      async (request, reply) => sendOrdered(reply, await exports.request((await find(request)).task_id)),
    )

    app.post(
      '/api/exports/:task_id/run-again',
      {
        config: { idempotent: true },
        schema: {
          tags,
          operationId: 'runExportAgain',
          summary: 'Ask for the same export once more, with the secrets that it had',
          params: OneTask,
          querystring: Type.Object({
            dates: Type.Optional(
              Type.Enum(['same', 'today'], {
                description:
                  'same (default): for the same days; today: its words for dates are filled in anew',
              }),
            ),
          }),
          response: { 202: ExportTask },
        },
      },
      async (request, reply) => {
        const { dates = 'same' } = request.query
        const before = await find(request)
        const refused = await exports.refusal(before.project_id)
        const operator = personOf(request.principal)?.name ?? null
        const issuer = { ...linkIssuerOf(request, proxies), operator, dates }
        await idempotency.answer(request, reply, async (tx) => {
          if (refused) throw refused
          const view = await exports.runAgain(tx, before, issuer)
          return { status: 202, headers: { Location: `/api/exports/${view.task_id}` }, body: view }
        })
      },
    )

    app.post(
      '/api/exports/:task_id/ticket',
      {
        schema: {
          tags,
          operationId: 'createExportTicket',
          summary: "Permission for a browser: this task's events and file only",
          params: OneTask,
          response: { 200: Ticket },
        },
      },
      async (request) => exports.ticket(await find(request), issuerOf(request.principal)),
    )

    app.post(
      '/api/exports/:task_id/render',
      {
        config: { idempotent: true },
        schema: {
          tags,
          operationId: 'renderExport',
          summary: 'Make another file of the rows that the export has kept',
          params: OneTask,
          body: nullable(RenderWish),
          response: { 202: ExportTask },
        },
      },
      async (request, reply) => {
        const { task_id, project_id } = await find(request)
        const refused = await exports.refusal(project_id)
        const issuer = linkIssuerOf(request, proxies)
        await idempotency.answer(request, reply, async (tx) => {
          if (refused) throw refused
          const view = await exports.render(tx, task_id, request.body ?? {}, issuer)
          return { status: 202, headers: { Location: `/api/exports/${view.task_id}` }, body: view }
        })
      },
    )

    app.delete(
      '/api/exports/:task_id/file',
      {
        schema: {
          tags,
          operationId: 'deleteExportFile',
          summary: 'Delete the file, for all tasks that share it; the task stays',
          params: OneTask,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await exports.files.delete((await find(request)).task_id)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/exports/:task_id/file',
      {
        config: { access: 'ticket', link: true, documented: EXPORT_FILE },
        schema: { tags, operationId: 'downloadExport', summary: 'The file', params: OneTask },
      },
      async (request, reply) => {
        const view = await find(request)
        // Read now: a connection that is closed has no address.
        const { ip: address } = request
        const audit = trail.prepare(request)
        const by = { who: await nameOf(projects, request.principal), address }
        const elsewhere = await exports.files.publicUrl(view.task_id)
        const use = linkUse(request, () => exports.files.useLink(view.task_id))
        if (elsewhere !== null) {
          await use()
          // How much of it the caller fetches there is unknown.
          await exports.files.recordDownload(view.task_id, { ...by, bytes: 0, complete: false })
          await audit()
          return reply.redirect(elsewhere, 302)
        }
        return sendFile(request, reply, {
          open: (range) => exports.files.open(view.task_id, range),
          // Only then: a file that cannot be sent uses up nothing.
          beforeSending: use,
          domain: 'exports',
          fileName: view.file?.name ?? 'export',
          size: view.file?.size ?? 0,
          sha256: view.file?.sha256,
          onSent: (sent) =>
            after.add(
              'recording a download',
              exports.files.recordDownload(view.task_id, { ...by, ...sent }).then(audit),
            ),
        })
      },
    )
  }
}

/** Counts one use of a link per request; a HEAD request and a download with a key do not count. */
function linkUse({ principal, method }: FastifyRequest, count: () => Promise<void>): () => Promise<void> {
  let counted = principal?.role !== 'ticket' || method === 'HEAD'
  return async () => {
    if (counted) return
    counted = true
    await count()
  }
}

/** The person, the key, or the ticket and who it was made for: a file that leaks can be traced back. Like the actor of the audit log, with the key's name. */
async function nameOf(projects: ProjectStore, principal: Principal | null): Promise<string> {
  const actor = actorOf(principal)
  const keyId = principal?.keyId ?? null
  if (keyId === null) return actor
  const name = await projects.keys.nameOf(keyId)
  return actor.replace(keyId, () => name)
}
