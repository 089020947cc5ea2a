import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { type ExportsApi, noExport } from '../../../exports/index.ts'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import { requireProject, requireTask } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { toEach } from '../bulk.ts'
import { BULK_SIZE, BulkAnswer, BulkRequest, filterOf } from './export-schemas.ts'

/** Retry, cancel or delete the files of many exports: of those that are named, or of all that match, a page per request. */
export function exportBulkRoutes({
  exports,
  ledger,
  trail,
}: HttpDeps & Pick<ExportsApi, 'exports'>): FastifyPluginAsyncTypebox {
  const chosen = async (request: FastifyRequest, body: Static<typeof BulkRequest>) => {
    const { action, ids, filter, cursor } = body
    if ((ids === undefined) === (filter === undefined))
      throw new AppError(ERRORS.REQUEST_INVALID, 'body must have either ids or filter')
    if (filter === undefined && cursor !== undefined)
      throw new AppError(ERRORS.REQUEST_INVALID, 'body must have cursor only with filter')
    if (filter === undefined) return { taskIds: ids ?? [], nextCursor: null }
    const { principal } = request
    const { project_id = principal?.role === 'project' ? principal.project.id : undefined } = filter
    if (project_id !== undefined) requireProject(principal, project_id)
    return exports.reach(action, {
      ...filterOf(filter),
      ...(project_id !== undefined && { projectId: project_id }),
      ...(cursor !== undefined && { cursor }),
      limit: BULK_SIZE,
    })
  }

  return async (app) => {
    app.post(
      '/api/exports/bulk',
      {
        schema: {
          tags: ['exports'],
          operationId: 'changeManyExports',
          summary: 'Retry, cancel or delete the files of up to 100 exports per request; safe to repeat',
          body: BulkRequest,
          response: { 200: BulkAnswer },
        },
      },
      async (request) => {
        const { action } = request.body
        const { taskIds, nextCursor } = await chosen(request, request.body)
        const refusals = new Map<string, Promise<AppError | undefined>>()
        const refusal = (projectId: string) => {
          const known = refusals.get(projectId) ?? exports.refusal(projectId)
          refusals.set(projectId, known)
          return known
        }
        const items = await toEach(taskIds, async (id) => {
          const projectId = await exports.projectOf(id)
          requireTask(request.principal, { id, projectId }, () => noExport(id))
          if (action === 'cancel') return exports.cancel(id)
          if (action === 'delete_file') return exports.files.delete(id, { onlyOnce: true })
          const refused = await refusal(projectId)
          if (refused) throw refused
          return ledger.transaction((tx) => exports.retry(tx, id))
        })
        const done = items.filter(({ error }) => error === null)
        await trail.recordMany(
          request,
          done.map(({ id }) => id),
        )
        return {
          done: done.length,
          skipped: items.length - done.length,
          items: items.map(({ id, error }) => ({ task_id: id, done: error === null, error })),
          next_cursor: nextCursor,
        }
      },
    )
  }
}
