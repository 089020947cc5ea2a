import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { EventFilter } from '../../jobs/index.ts'
import { AppError, background, ERRORS } from '../../kernel/index.ts'
import { grantOf, type Principal, requireProject } from '../auth/index.ts'
import type { HttpDeps } from '../http-deps.ts'
import { SseLine } from './sse-line.ts'

const STREAM = {
  headers: {
    'Last-Event-ID': Type.Optional(Type.String({ description: 'The seq after which the stream goes on' })),
  },
  answers: {
    200: {
      description: 'A stream without end; a comment is sent as a heartbeat',
      content: {
        'text/event-stream': {
          schema: Type.String({ description: '`id:` is the seq, `data:` an EventMessage as JSON' }),
        },
      },
    },
  },
}

/** The event log as it grows, from `after` or `Last-Event-ID` on; from now on when neither is given. */
export function eventRoutes({ watchers }: HttpDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/events',
      {
        config: { access: 'ticket', endless: true, documented: STREAM },
        schema: {
          tags: ['events'],
          operationId: 'streamEvents',
          summary: 'Server-sent events: one JSON message per event, id is its seq',
          querystring: Type.Object({
            after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
            task_id: Type.Optional(Type.String()),
            project_id: Type.Optional(Type.String()),
          }),
        },
      },
      async (request, reply) => {
        const { after, task_id, project_id } = request.query
        const filter = filterFor(request.principal, { taskId: task_id, projectId: project_id })
        const { raw } = reply
        const start = readLastEventId(request.headers['last-event-id']) ?? after
        const watch = await watchers.open(start, filter, grantOf(request.principal))
        raw.once('close', () => watch.cancel())
        // From here on nothing that happens to the stream is an answer of this handler.
        reply.hijack()
        if (raw.destroyed) return watch.cancel()
        for (const [name, value] of Object.entries(reply.getHeaders())) raw.setHeader(name, value as string)
        raw.on('error', () => watch.cancel())
        background(
          'an event stream',
          watchers.serve(watch, new SseLine(raw)).finally(() => raw.end()),
        )
      },
    )
  }
}

/** What a caller may see: a ticket its task or project, a project its own, the admin everything. */
export function filterFor(
  principal: Principal | null,
  { taskId, projectId }: { taskId?: string | undefined; projectId?: string | undefined },
): EventFilter {
  if (principal?.role === 'ticket') {
    const own = principal.taskId
    if (own !== null) {
      if (taskId !== undefined && taskId !== own)
        throw new AppError(ERRORS.TASK_NOT_FOUND, `there is no task ${taskId}`)
      return { taskId: own }
    }
    if (principal.projectId === null || (projectId !== undefined && projectId !== principal.projectId))
      throw new AppError(ERRORS.PROJECT_NOT_FOUND, `there is no project ${projectId}`)
    return { projectId: principal.projectId, ...(taskId !== undefined && { taskId }) }
  }
  if (projectId !== undefined) requireProject(principal, projectId)
  const own = principal?.role === 'project' ? principal.project.id : projectId
  return { ...(own !== undefined && { projectId: own }), ...(taskId !== undefined && { taskId }) }
}

function readLastEventId(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined
}
