import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  type ExportBody,
  type ExportsApi,
  ExportTask,
  type ExportView,
  noExport,
  Preview,
  type Produced,
  PublicKeys,
} from '../../../exports/index.ts'
import { AppError, ERRORS, metrics } from '../../../kernel/index.ts'
import { contentDisposition } from '../../../storage/index.ts'
import type { Person } from '../../../tenancy/index.ts'
import { linkIssuerOf, type Principal, personOf, requireProject, requireTask } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { SYNC_FILE } from '../../openapi/index.ts'
import { readRequestJson } from '../request-json.ts'
import { OneTask } from '../schemas.ts'
import { exportBulkRoutes } from './export-bulk.ts'
import { exportDetailRoutes } from './export-details.ts'
import { exportListRoutes } from './export-lists.ts'
import { ExportRequestBody } from './export-schemas.ts'

const tags = ['exports']
const POLL_AFTER_SECONDS = '2'

/** "Page this URL and give my operator a file." */
export function exportRoutes(http: HttpDeps, { exports }: ExportsApi): FastifyPluginAsyncTypebox {
  const { idempotency } = http
  const deps = { ...http, exports }

  const find = async (request: FastifyRequest): Promise<ExportView> => {
    const { task_id } = request.params as { task_id: string }
    const view = await exports.get(task_id, linkIssuerOf(request, deps.proxies))
    requireTask(request.principal, { id: task_id, projectId: view.project_id }, () => noExport(task_id))
    return view
  }

  return async (app) => {
    readRequestJson(app as unknown as FastifyInstance)

    app.post(
      '/api/exports',
      {
        config: { idempotent: true, documented: SYNC_FILE },
        schema: {
          tags,
          operationId: 'createExport',
          summary: 'Ask for an export; with mode=sync the answer is the file itself',
          querystring: Type.Object({ mode: Type.Optional(Type.Enum(['async', 'sync'])) }),
          body: ExportRequestBody,
          response: { 202: ExportTask },
        },
      },
      async (request, reply) => {
        const body = inTheirName(request.body, personOf(request.principal))
        const projectId = projectOf(request.principal, body)
        if (request.query.mode === 'sync') return answerWithFile(deps, request, projectId, reply) as never
        const refused = await exports.refusal(projectId)
        await idempotency.answer(request, reply, async (tx) => {
          if (refused) throw refused
          const view = await exports.submit(tx, projectId, body, linkIssuerOf(request, deps.proxies))
          const headers = { Location: `/api/exports/${view.task_id}`, 'Retry-After': POLL_AFTER_SECONDS }
          return { status: 202, headers, body: view }
        })
      },
    )

    app.post(
      '/api/exports/preview',
      {
        schema: {
          tags,
          operationId: 'previewExport',
          summary:
            'The file of the first rows: its cells with values, shown texts and looks; nothing is stored',
          body: ExportRequestBody,
          response: { 200: Preview },
        },
      },
      async (request, reply) => {
        const { body } = request
        const projectId = projectOf(request.principal, body)
        const issuer = linkIssuerOf(request, deps.proxies)
        return exports.immediate.preview(projectId, body, abortedWith(reply), issuer)
      },
    )

    app.get(
      '/api/exports/:task_id',
      {
        config: { access: 'ticket' },
        schema: {
          tags,
          operationId: 'getExport',
          summary: 'The state of an export',
          params: OneTask,
          response: { 200: ExportTask },
        },
      },
      find,
    )

    app.delete(
      '/api/exports/:task_id',
      {
        schema: {
          tags,
          operationId: 'cancelExport',
          summary: 'Cancel; a shared job stops with its last task',
          params: OneTask,
          response: { 202: ExportTask },
        },
      },
      async (request, reply) => {
        const { task_id } = await find(request)
        await exports.cancel(task_id)
        return reply.code(202).send(await exports.get(task_id, linkIssuerOf(request, deps.proxies)))
      },
    )

    app.post(
      '/api/exports/:task_id/retry',
      {
        config: { idempotent: true },
        schema: {
          tags,
          operationId: 'retryExport',
          summary: 'Try a failed or cancelled export again',
          params: OneTask,
          response: { 202: ExportTask },
        },
      },
      async (request, reply) => {
        const before = await find(request)
        const refused = await exports.refusal(before.project_id)
        await idempotency.answer(request, reply, async (tx) => {
          if (refused) throw refused
          const view = await exports.retry(tx, before.task_id, linkIssuerOf(request, deps.proxies))
          return { status: 202, headers: { 'Retry-After': POLL_AFTER_SECONDS }, body: view }
        })
      },
    )

    app.get(
      '/.well-known/wharf-keys',
      {
        config: { access: 'open' },
        schema: {
          tags,
          operationId: 'getManifestKeys',
          summary: 'Keys that sign manifests, as a JWK set',
          response: { 200: PublicKeys },
        },
      },
      async () => exports.files.publicKeys,
    )

    await app.register(exportListRoutes(deps))
    await app.register(exportBulkRoutes(deps))
    await app.register(exportDetailRoutes(deps, find))
  }
}

/** What a person asks for is theirs, unless they say whose it is. */
function inTheirName(body: ExportBody, person: Person | null): ExportBody {
  return person && body.operator_id === undefined ? { ...body, operator_id: person.name } : body
}

function projectOf(principal: Principal | null, { project_id }: ExportBody): string {
  if (principal?.role === 'project') {
    if (project_id !== undefined) requireProject(principal, project_id)
    return principal.project.id
  }
  if (project_id === undefined)
    throw new AppError(ERRORS.REQUEST_INVALID, 'body must have project_id with the admin token')
  return project_id
}

async function answerWithFile(
  { exports, proxies, trail }: Pick<HttpDeps, 'proxies' | 'trail'> & Pick<ExportsApi, 'exports'>,
  request: FastifyRequest,
  projectId: string,
  reply: FastifyReply,
): Promise<void> {
  const send = async ({ path, fileName, contentType, watermark }: Produced) => {
    reply.headers({
      'Content-Type': contentType,
      'Content-Length': (await stat(path)).size,
      'Content-Disposition': contentDisposition(fileName),
    })
    // There is no task to look up: the audit log says whose mark it is.
    if (watermark) await trail.prepare(request, { action: 'export.downloaded', target: watermark.id })()
    const stream = createReadStream(path)
    stream.once('close', () => metrics.bytesSent.inc({ domain: 'exports' }, stream.bytesRead))
    await reply.send(stream)
  }
  const issuer = linkIssuerOf(request, proxies)
  const body = inTheirName(request.body as ExportBody, personOf(request.principal))
  await exports.immediate.sync(projectId, body, abortedWith(reply), send, issuer)
}

/** A caller that has gone wants nothing any more. */
function abortedWith(reply: FastifyReply): AbortSignal {
  const abort = new AbortController()
  // Of the answer, not of the connection: that one carries further requests, and would gather listeners.
  reply.raw.once('close', () => abort.abort(new AppError(ERRORS.CALLER_GONE, 'the caller has gone')))
  return abort.signal
}
