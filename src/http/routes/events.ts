import sse, { type SSEPluginOptions } from '@fastify/sse'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import type { EventFilter } from '../../engine/index.ts'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { eventStream } from '../../notify/index.ts'
import { type Principal, requireProject } from '../auth.ts'
import type { HttpDeps } from '../http-deps.ts'

const HEARTBEAT_MS = 15_000
/** After this long a browser that lost its stream comes back. */
const RETRY_MS = 2_000

/** The event log as it grows, from `after` or `Last-Event-ID` on; from now on when neither is given. */
export function eventRoutes({ engine, stopping }: HttpDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    // The package's types call the module itself the plugin, which is what CommonJS makes of it.
    await app.register(sse as unknown as FastifyPluginAsync<SSEPluginOptions>, {
      heartbeatInterval: HEARTBEAT_MS,
    })
    app.get(
      '/api/events',
      {
        config: { access: 'ticket', endless: true },
        // Also for clients that accept anything, as curl does.
        sse: 'only',
        schema: {
          tags: ['events'],
          summary: 'Server-sent events: one JSON message an event, id is its seq',
          querystring: Type.Object({
            after: Type.Optional(Type.Integer({ minimum: 0 })),
            task_id: Type.Optional(Type.String()),
            project_id: Type.Optional(Type.String()),
            token: Type.Optional(Type.String()),
            ticket: Type.Optional(Type.String()),
          }),
        },
      },
      async (request, reply) => {
        const { after, task_id, project_id } = request.query
        const filter = filterFor(request.principal, { taskId: task_id, projectId: project_id })
        const start =
          readLastEventId(request.headers['last-event-id']) ?? after ?? (await engine.events.last())
        const gone = new AbortController()
        reply.sse.onClose(() => gone.abort())
        const signal = AbortSignal.any([gone.signal, stopping])
        const messages = eventStream(engine, { after: start, filter, signal })
        await reply.sse.send(
          (async function* () {
            // At once, so that a reader knows it is heard, and the heartbeat begins, before anything happens.
            yield { data: undefined, retry: RETRY_MS }
            for await (const message of messages) yield { id: String(message.seq), data: message }
          })(),
        )
      },
    )
  }
}

/** Nobody sees more than what is theirs: a ticket its task, a project its own, the admin everything. */
export function filterFor(
  principal: Principal | null,
  { taskId, projectId }: { taskId?: string | undefined; projectId?: string | undefined },
): EventFilter {
  if (principal?.role === 'ticket') {
    if (taskId !== undefined && taskId !== principal.taskId)
      throw new AppError(ERRORS.FORBIDDEN, 'this ticket is for another task')
    return { taskId: principal.taskId }
  }
  if (projectId !== undefined) requireProject(principal, projectId)
  const own = principal?.role === 'project' ? principal.project.id : projectId
  return { ...(own !== undefined && { projectId: own }), ...(taskId !== undefined && { taskId }) }
}

function readLastEventId(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined
}
