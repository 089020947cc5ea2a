import { extname, parse } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { hasEnded, type Processing, type TaskDetails, UploadServer } from '../../processing/index.ts'
import { projectScope, requireTask } from '../auth.ts'
import { answerFile } from '../file-answer.ts'
import type { HttpDeps } from '../http-deps.ts'
import { PROBLEM_TYPE, toProblem } from '../problem.ts'
import { paging, wanted } from './paging.ts'
import { TaskPage, TaskState, TaskView } from './processing-schemas.ts'
import { OneTask, Ticket } from './schemas.ts'

const UPLOADS = '/api/uploads'
const tags = ['processing']
const TICKET_MS = 15 * 60_000

/** Uploads become tasks, tasks have results. A task that was made over gRPC belongs to no project: any key may ask. */
export function processingRoutes(deps: HttpDeps, processing: Processing): FastifyPluginAsyncTypebox {
  const { service, results } = processing
  const mine = async (request: FastifyRequest<{ Params: { task_id: string } }>): Promise<TaskDetails> => {
    const task = await service.details(request.params.task_id)
    const { taskId: id, projectId } = task
    if (projectId !== null || request.principal?.role === 'ticket')
      requireTask(request.principal, { id, projectId })
    return task
  }
  return async (app) => {
    await app.register(uploadRoutes(deps, processing))

    app.get(
      '/api/tasks',
      {
        schema: {
          tags,
          summary: "A project's tasks, newest first; to the admin, all",
          querystring: Type.Object({ status: Type.Optional(TaskState), ...paging }),
          response: { 200: TaskPage },
        },
      },
      async (request) => {
        const { limit, cursor, ...filters } = wanted(request.query, 'status')
        const tasks = await processing.list({
          limit: limit + 1,
          ...filters,
          ...projectScope(request.principal),
          ...(cursor !== undefined && { before: cursor }),
        })
        const page = tasks.slice(0, limit)
        const next_cursor = tasks.length > limit ? (page.at(-1)?.taskId ?? null) : null
        return { items: page.map(toView), next_cursor }
      },
    )

    app.get(
      '/api/tasks/:task_id',
      { schema: { tags, summary: 'How a task stands', params: OneTask, response: { 200: TaskView } } },
      async (request) => toView(await mine(request)),
    )

    app.get(
      '/api/tasks/:task_id/result',
      {
        config: { access: 'ticket' },
        schema: { tags, summary: 'The result of a task; takes Range', params: OneTask },
      },
      async (request, reply) => {
        const task = await mine(request)
        if (!hasEnded(task.status)) {
          throw new AppError(ERRORS.TASK_NOT_FINISHED, `task ${task.taskId} is ${task.status}`, {
            retryAfter: 5,
          })
        }
        if (task.status === 'FAILED') throw new AppError(ERRORS.TASK_WITHOUT_RESULT, task.errorMessage)
        const file = await results.open(task.taskId, task.resultPath)
        return answerFile(request, reply, { ...file, name: resultName(task, file.name) })
      },
    )

    app.post(
      '/api/tasks/:task_id/ticket',
      {
        schema: {
          tags,
          summary: "Permission for a browser to fetch this task's result, as ?ticket=",
          params: OneTask,
          response: { 200: Ticket },
        },
      },
      async (request) => {
        const { ticket, expiresAt } = deps.tickets.issue((await mine(request)).taskId, TICKET_MS)
        return { ticket, expires_at: new Date(expiresAt).toISOString() }
      },
    )

    app.delete(
      '/api/tasks/:task_id',
      {
        schema: {
          tags,
          summary: 'Cancel a task that has not ended',
          params: OneTask,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await service.cancel((await mine(request)).taskId)
        return reply.code(204).send(null)
      },
    )
  }
}

/** tus 1.0. The bodies belong to its server, so none of Fastify's parsers may touch them. */
function uploadRoutes({ log }: HttpDeps, { service, uploads }: Processing): FastifyPluginAsyncTypebox {
  const server = new UploadServer(service, {
    ...uploads,
    path: UPLOADS,
    problemType: PROBLEM_TYPE,
    problemOf: (error, status) => JSON.stringify({ ...toProblem(error, 'upload'), status }),
  })
  const uploaderOf = (request: FastifyRequest) => {
    const key = request.headers['idempotency-key']
    const projectId = request.principal?.role === 'project' ? request.principal.project.id : null
    return { projectId, ...(typeof key === 'string' && { idempotencyKey: key }) }
  }
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    try {
      await server.answer(request.raw, reply.raw, uploaderOf(request))
    } catch (error) {
      // The answer is under way, or the caller is gone: nothing can be told any more.
      log.debug({ err: error }, 'an upload request broke off')
      reply.raw.destroy()
    }
  }
  const params = Type.Object({ upload_id: Type.String() })
  return async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))

    app.post(
      UPLOADS,
      { schema: { tags, summary: 'Begin a resumable upload (tus 1.0); its id becomes the id of its task' } },
      async (request, reply) => {
        const before = await server.madeBefore(uploaderOf(request))
        if (!before) return answer(request, reply)
        const asked = request.headers['upload-length']
        if (before.size !== undefined && asked !== undefined && Number(asked) !== before.size) {
          throw new AppError(
            ERRORS.IDEMPOTENCY_KEY_REUSED,
            'this Idempotency-Key was used for another upload',
          )
        }
        const headers = {
          Location: before.location,
          'Tus-Resumable': '1.0.0',
          'Idempotency-Replayed': 'true',
        }
        return reply.code(201).headers(headers).send()
      },
    )

    app.head(
      `${UPLOADS}/:upload_id`,
      { schema: { tags, summary: 'How far an upload is', params } },
      async (request, reply) => {
        const { upload_id } = request.params
        const size = await server.sizeOfTask(upload_id, uploaderOf(request))
        if (size === undefined) return answer(request, reply)
        const headers = {
          'Upload-Offset': size,
          'Upload-Length': size,
          'Tus-Resumable': '1.0.0',
          'Task-Id': upload_id,
        }
        return reply.headers(headers).send()
      },
    )

    app.patch(`${UPLOADS}/:upload_id`, { schema: { tags, summary: 'Send the next piece', params } }, answer)
    app.delete(`${UPLOADS}/:upload_id`, { schema: { tags, summary: 'Give an upload up', params } }, answer)
    app.options(
      UPLOADS,
      { config: { access: 'open' }, schema: { tags, summary: 'What the server can do' } },
      answer,
    )
  }
}

function toView(task: TaskDetails) {
  const { taskId, status } = task
  return {
    task_id: taskId,
    status,
    file_name: task.fileName,
    size: task.size,
    progress: status === 'COMPLETED' ? 1 : task.progress,
    error_message: task.errorMessage || null,
    result_url: status === 'COMPLETED' ? `/api/tasks/${encodeURIComponent(taskId)}/result` : null,
    created_at: new Date(task.createdAt * 1000).toISOString(),
    updated_at: new Date(task.updatedAt * 1000).toISOString(),
    expires_at: task.expiresAt > 0 ? new Date(task.expiresAt).toISOString() : null,
  }
}

/** The user's own name with the result's extension. */
function resultName(task: TaskDetails, stored: string): string {
  const base = parse(task.fileName.replaceAll('\\', '/')).name
  return base === '' ? stored : `${base}${extname(stored)}`
}
