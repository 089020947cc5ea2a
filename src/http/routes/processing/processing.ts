import { extname, parse } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import { eventHistory } from '../../../notify/index.ts'
import {
  hasEnded,
  noTask,
  type Processing,
  type TaskDetails,
  TaskLogView,
  TaskStatus,
  TaskView,
  toTaskView,
} from '../../../processing/index.ts'
import { sendFile } from '../../answers/index.ts'
import { issuerOf, projectScope, requireTask } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { TASK_RESULT } from '../../openapi/index.ts'
import { paging, wanted } from '../paging.ts'
import { OneTask, pageOf, Ticket } from '../schemas.ts'
import { uploadRoutes } from './uploads.ts'

const tags = ['processing']
const TICKET_MS = 15 * 60_000

export type TaskPage = Static<typeof TaskPage>
const TaskPage = pageOf(TaskView, 'TaskPage')

/** Uploads become tasks, tasks have results. A task that was made over gRPC belongs to no project: any key may ask. */
export function processingRoutes(deps: HttpDeps, processing: Processing): FastifyPluginAsyncTypebox {
  const { service, results } = processing
  const mine = async (request: FastifyRequest): Promise<TaskDetails> => {
    const task = await service.details((request.params as Static<typeof OneTask>).task_id)
    const { taskId: id, projectId } = task
    if (projectId !== null || request.principal?.role === 'ticket')
      requireTask(request.principal, { id, projectId }, noTask)
    return task
  }
  /** A task of the installation is any key's to ask about, and the admin's to change. */
  const mineToChange = async (request: FastifyRequest): Promise<TaskDetails> => {
    const task = await mine(request)
    if (task.projectId === null && request.principal?.role !== 'admin')
      throw new AppError(ERRORS.FORBIDDEN, 'this task belongs to the installation: it takes the admin token')
    return task
  }
  return async (app) => {
    await app.register(uploadRoutes(deps, processing))

    app.get(
      '/api/tasks',
      {
        schema: {
          tags,
          operationId: 'listTasks',
          summary: "A project's tasks, newest first; to the admin, all",
          querystring: Type.Object({ status: Type.Optional(TaskStatus), ...paging }),
          response: { 200: TaskPage },
        },
      },
      async (request) => {
        const { tasks, nextCursor } = await processing.list({
          ...wanted(request.query, 'status'),
          ...projectScope(request.principal),
        })
        return { items: tasks.map(toTaskView), next_cursor: nextCursor }
      },
    )

    app.get(
      '/api/tasks/:task_id',
      {
        schema: {
          tags,
          operationId: 'getTask',
          summary: 'The state of a task',
          params: OneTask,
          response: { 200: TaskView },
        },
      },
      async (request) => toTaskView(await mine(request)),
    )

    app.get(
      '/api/tasks/:task_id/result',
      {
        config: { access: 'ticket', documented: TASK_RESULT },
        schema: {
          tags,
          operationId: 'downloadTaskResult',
          summary: 'The result of a task; takes Range',
          params: OneTask,
        },
      },
      async (request, reply) => {
        const task = await mine(request)
        if (!hasEnded(task.status)) {
          throw new AppError(ERRORS.TASK_NOT_FINISHED, `task ${task.taskId} is ${task.status}`, {
            retryAfter: 5,
          })
        }
        if (task.status === 'FAILED') throw new AppError(ERRORS.TASK_WITHOUT_RESULT, task.errorMessage)
        const { size, name } = await results.stat(task.taskId, task.resultPath)
        if (request.method === 'GET') await deps.trail.prepare(request)()
        return sendFile(request, reply, {
          open: (range) => results.read(task.taskId, task.resultPath, range),
          domain: 'processing',
          fileName: resultName(task, name),
          size,
        })
      },
    )

    app.get(
      '/api/tasks/:task_id/log',
      {
        schema: {
          tags,
          operationId: 'getTaskLog',
          summary: "What the command of a task printed; empty where no processor of Wharf's own ran it",
          params: OneTask,
          response: { 200: TaskLogView },
        },
      },
      async (request) => {
        const { lines, leftOut } = await processing.log((await mine(request)).taskId)
        const items = lines.map(({ at, ...line }) => ({ at: new Date(at).toISOString(), ...line }))
        return { items, left_out: leftOut }
      },
    )

    app.get(
      '/api/tasks/:task_id/events',
      {
        schema: {
          tags,
          operationId: 'listTaskEvents',
          summary: 'Everything that happened to it',
          params: OneTask,
          response: { 200: Type.Object({ items: Type.Array(Type.Unknown({ title: 'EventMessage' })) }) },
        },
      },
      async (request) => ({
        items: await eventHistory(deps.engine, { taskId: (await mine(request)).taskId }),
      }),
    )

    app.post(
      '/api/tasks/:task_id/retry',
      {
        config: { idempotent: true },
        schema: {
          tags,
          operationId: 'retryTask',
          summary: 'Make a new task of the file of one that failed',
          params: OneTask,
          response: { 202: TaskView },
        },
      },
      async (request, reply) => {
        const { id, before } = await processing.retry(await mineToChange(request), keyOf(request))
        if (before) reply.header('Idempotency-Replayed', 'true')
        return reply
          .code(202)
          .header('Location', `/api/tasks/${id}`)
          .send(toTaskView(await service.details(id)))
      },
    )

    app.delete(
      '/api/tasks/:task_id/record',
      {
        schema: {
          tags,
          operationId: 'deleteTask',
          summary: 'Delete a task that has ended, with its files, before its time',
          params: OneTask,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await processing.delete(await mineToChange(request))
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/tasks/:task_id/ticket',
      {
        schema: {
          tags,
          operationId: 'createTaskTicket',
          summary: "Permission for a browser to fetch this task's result, as ?ticket=",
          params: OneTask,
          response: { 200: Ticket },
        },
      },
      async (request) => {
        const { taskId, projectId } = await mine(request)
        const { keyId = null, sessionId = null } = issuerOf(request.principal)
        // A task of the installation has no project; its ticket ends with the key's own project.
        const of = projectId ?? (request.principal?.role === 'project' ? request.principal.project.id : null)
        const { ticket, expiresAt } = deps.tickets.issue(
          { taskId, projectId: of, keyId, sessionId },
          TICKET_MS,
        )
        return { ticket, expires_at: new Date(expiresAt).toISOString() }
      },
    )

    app.delete(
      '/api/tasks/:task_id',
      {
        schema: {
          tags,
          operationId: 'cancelTask',
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

function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  return typeof key === 'string' ? key : undefined
}

/** The user's own name with the result's extension. */
function resultName(task: TaskDetails, stored: string): string {
  const base = parse(task.fileName.replaceAll('\\', '/')).name
  return base === '' ? stored : `${base}${extname(stored)}`
}
