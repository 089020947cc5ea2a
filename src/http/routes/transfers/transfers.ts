import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import type { Tx } from '../../../ledger/index.ts'
import {
  AllowedAgents,
  Enrollment,
  KnownAgent,
  NewEnrollment,
  noTransfer,
  OneAgent,
  Redelivery,
  RepositoryFileView,
  RepositoryPage,
  TransferAccepted,
  TransferJob,
  TransferPage,
  TransferRequestBody,
  TransferState,
  type Transfers,
  TransferTask,
} from '../../../transfers/index.ts'
import { type Principal, projectScope, requireOwn, requireProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { paging, wanted } from '../paging.ts'
import { OneProject, OneTask } from '../schemas.ts'

const tags = ['transfers']
const OneJob = Type.Object({ job_id: Type.String() })

/** "Put this file on these thousand hosts." */
export function transferRoutes(
  { idempotency, ledger, trail }: HttpDeps,
  transfers: Transfers,
): FastifyPluginAsyncTypebox {
  /** What is another project's does not exist. */
  const own = async <V extends { project_id: string }>(
    principal: Principal | null,
    [what, id]: Parameters<typeof noTransfer>,
    found: Promise<V>,
  ) => {
    const view = await found
    requireOwn(principal, view.project_id, () => noTransfer(what, id))
    return view
  }
  return async (app) => {
    await app.register(repositoryRoutes(transfers))

    app.post(
      '/api/transfers',
      {
        config: { access: 'project', idempotent: true },
        schema: {
          tags,
          operationId: 'createTransfer',
          summary: 'Have a file delivered to one target; requests of one window share one delivery',
          body: TransferRequestBody,
          response: { 202: TransferAccepted },
        },
      },
      async (request, reply) => {
        const body = request.body
        const projectId = projectOf(request)
        const joined = (tx: Tx, jobId: string) => trail.recordOnce(tx, request, jobId)
        if (request.headers['idempotency-key'] === undefined) {
          const { taskId, jobId } = await transfers.request(projectId, body, joined)
          return reply.code(202).headers(placeOf(taskId)).send({ task_id: taskId, job_id: jobId })
        }
        await idempotency.answer(request, reply, async (tx) => {
          const { taskId, jobId } = await transfers.requestIn(tx, projectId, body, joined)
          return { status: 202, headers: placeOf(taskId), body: { task_id: taskId, job_id: jobId } }
        })
      },
    )

    app.get(
      '/api/repository',
      {
        config: { access: 'project' },
        schema: {
          tags,
          operationId: 'listRepositoryFiles',
          summary: 'The files that can be delivered, the last one put first',
          querystring: Type.Object({
            prefix: Type.Optional(Type.String({ maxLength: 4096 })),
            ...paging,
          }),
          response: { 200: RepositoryPage },
        },
      },
      (request) => transfers.files({ projectId: projectOf(request), ...wanted(request.query, 'prefix') }),
    )

    app.get(
      '/api/transfers/:task_id',
      {
        schema: {
          tags,
          operationId: 'getTransfer',
          summary: 'The state of one request',
          params: OneTask,
          response: { 200: TransferTask },
        },
      },
      ({ principal, params: { task_id } }) => own(principal, ['task', task_id], transfers.task(task_id)),
    )

    app.get(
      '/api/transfer-jobs',
      {
        schema: {
          tags,
          operationId: 'listTransferJobs',
          summary: 'Deliveries and windows that still collect, newest first',
          querystring: Type.Object({
            status: Type.Optional(TransferState),
            ...paging,
          }),
          response: { 200: TransferPage },
        },
      },
      (request) => transfers.jobs({ ...projectScope(request.principal), ...wanted(request.query, 'status') }),
    )

    app.get(
      '/api/transfer-jobs/:job_id',
      {
        schema: {
          tags,
          operationId: 'getTransferJob',
          summary: 'The state of the delivery of a window',
          params: OneJob,
          response: { 200: TransferJob },
        },
      },
      ({ principal, params: { job_id } }) => own(principal, ['job', job_id], transfers.job(job_id)),
    )

    app.delete(
      '/api/transfer-jobs/:job_id',
      {
        schema: {
          tags,
          operationId: 'cancelTransferJob',
          summary: 'Stop a delivery for the targets that are still open',
          params: OneJob,
          response: { 202: TransferJob },
        },
      },
      async (request, reply) => {
        const { job_id } = request.params
        await own(request.principal, ['job', job_id], transfers.job(job_id))
        await transfers.cancel(job_id)
        return reply.code(202).send(await transfers.job(job_id))
      },
    )

    app.post(
      '/api/transfer-jobs/:job_id/redeliver',
      {
        config: { idempotent: true },
        schema: {
          tags,
          operationId: 'redeliverTransferJob',
          summary: 'Deliver again to the targets that failed or timed out, in a new window',
          params: OneJob,
          response: { 202: Redelivery },
        },
      },
      async (request, reply) => {
        const { job_id } = request.params
        await own(request.principal, ['job', job_id], transfers.job(job_id))
        await idempotency.answer(request, reply, async (tx) => ({
          status: 202,
          body: await transfers.redeliver(tx, job_id),
        }))
      },
    )

    app.get(
      '/api/agents',
      {
        schema: {
          tags,
          operationId: 'listAgents',
          summary:
            'To the admin, every agent that is enrolled; to a project, those connected that it may send to',
          response: { 200: Type.Array(KnownAgent) },
        },
      },
      async ({ principal }) =>
        principal?.role === 'project'
          ? transfers.connectedAgents(principal.project.id)
          : transfers.allAgents(),
    )

    app.post(
      '/api/agents/enrollments',
      {
        config: { access: 'admin', idempotent: true },
        schema: {
          tags,
          operationId: 'createEnrollment',
          summary: 'Make a token that enrols one agent, within a quarter of an hour',
          description:
            'The agent that uses it gets the identity; a key that was enrolled for it before is revoked.',
          body: NewEnrollment,
          response: { 201: Enrollment },
        },
      },
      (request, reply) =>
        idempotency.answer(request, reply, async (tx) => {
          const { agent_id: agentId, container_id: containerId = '' } = request.body
          const { token, expiresAt } = await transfers.inviteAgent(tx, { agentId, containerId })
          return { status: 201, body: { token, expires_at: new Date(expiresAt).toISOString() } }
        }),
    )

    app.delete(
      '/api/agents/:agent_id/:container_id',
      {
        config: { access: 'admin' },
        schema: {
          tags,
          operationId: 'revokeContainerAgent',
          summary: 'Revoke an agent: its line is closed at once, and no peer takes its certificate any more',
          params: OneAgent,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { agent_id: agentId, container_id: containerId } = request.params
        await transfers.revokeAgent({ agentId, containerId })
        return reply.code(204).send(null)
      },
    )

    app.delete(
      '/api/agents/:agent_id/',
      {
        config: { access: 'admin' },
        schema: {
          tags,
          operationId: 'revokeHostAgent',
          summary: 'Revoke the agent of the host itself, which has no container',
          params: Type.Pick(OneAgent, ['agent_id']),
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await transfers.revokeAgent({ agentId: request.params.agent_id, containerId: '' })
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/projects/:project_id/agents',
      {
        schema: {
          tags,
          operationId: 'getProjectAgents',
          summary: 'The agents that a project may send to',
          params: OneProject,
          response: { 200: AllowedAgents },
        },
      },
      async (request) => {
        requireProject(request.principal, request.params.project_id)
        return { agents: await transfers.agentsOf(request.params.project_id) }
      },
    )

    app.put(
      '/api/projects/:project_id/agents',
      {
        config: { access: 'admin' },
        schema: {
          tags,
          operationId: 'setProjectAgents',
          summary: 'Say which agents a project may send to',
          params: OneProject,
          body: AllowedAgents,
          response: { 200: AllowedAgents },
        },
      },
      async (request) => {
        const { agents } = request.body
        await ledger.transaction((tx) => transfers.setAgents(tx, request.params.project_id, agents))
        return { agents }
      },
    )
  }
}

/** Bodies here are files: taken as they come, whatever they call themselves. */
function repositoryRoutes(transfers: Transfers): FastifyPluginAsyncTypebox {
  return async (app) => {
    const raw = app as unknown as FastifyInstance
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

    app.put(
      '/api/repository/*',
      {
        config: { access: 'project', file: true },
        schema: {
          tags,
          operationId: 'putRepositoryFile',
          summary: 'Put a file where transfers find it; the body is the file',
          params: Type.Object({ '*': Type.String() }),
          response: { 200: RepositoryFileView },
        },
      },
      async (request) => {
        const body = (request.body as Readable | undefined) ?? Readable.from([])
        // Left open when it is not read to its end: its connection still has to carry the answer.
        const bytes = body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
        const gone = new AbortController()
        request.raw.once('close', () => {
          if (!request.raw.complete) gone.abort(new AppError(ERRORS.CONNECTION_LOST, 'the upload broke off'))
        })
        const stated = Number(request.headers['content-length'] ?? Number.NaN)
        const length = Number.isSafeInteger(stated) ? stated : null
        return transfers.putFile(projectOf(request), request.params['*'], bytes, gone.signal, length)
      },
    )
  }
}

function projectOf({ principal }: FastifyRequest): string {
  if (principal?.role === 'project') return principal.project.id
  throw new AppError(ERRORS.FORBIDDEN, "this needs a project's key")
}

function placeOf(taskId: string): Record<string, string> {
  return { Location: `/api/transfers/${encodeURIComponent(taskId)}`, 'Retry-After': '2' }
}
