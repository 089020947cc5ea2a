import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { EXPORT_LANE, type Mask } from '../../../exports/index.ts'
import {
  NewProjectView,
  newProjectView,
  ProjectView,
  projectView,
  Rotated,
  Rotation,
  rotatedView,
} from '../../../tenancy/index.ts'
import { Permissions } from '../../../transfers/index.ts'
import { issuerOf, requireProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { OneProject, Ticket } from '../schemas.ts'
import { keyRoutes } from './keys.ts'
import { NewProject, ProjectChanges, ProjectDetails, Usage } from './project-schemas.ts'

const HOUR = 3_600_000
const TICKET_MS = HOUR

/** Business systems register here. The keys in an answer are shown this once. */
export function projectRoutes(deps: HttpDeps): FastifyPluginAsyncTypebox {
  const { engine, projects, quotas, tickets, idempotency, ledger, trail } = deps
  const permissions = new Permissions(ledger)
  const usageOf = async (projectId: string) =>
    quotas.of(projectId, { exportsAtOnce: await engine.lanes.held(EXPORT_LANE, projectId) })
  const detailsOf = async (projectId: string) => {
    const project = await projects.require(ledger, projectId)
    return {
      ...projectView(project),
      biz_ids: await permissions.businesses(projectId),
      quotas: await usageOf(projectId),
      masks: (await projects.masks(projectId)) as Record<string, Mask>,
    }
  }

  return async (app) => {
    await app.register(keyRoutes(deps))

    app.post(
      '/api/projects',
      {
        config: { access: 'admin', idempotent: true },
        schema: {
          tags: ['projects'],
          operationId: 'createProject',
          summary: 'Register a project',
          body: NewProject,
          response: { 201: NewProjectView },
        },
      },
      (request, reply) =>
        idempotency.answer(request, reply, async (tx) => {
          const project = await projects.create(tx, request.body.name)
          trail.record(tx, request, project.id)
          return { status: 201, body: newProjectView(project) }
        }),
    )

    app.get(
      '/api/projects',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          operationId: 'listProjects',
          summary: 'List projects',
          response: { 200: Type.Object({ items: Type.Array(ProjectView) }) },
        },
      },
      async () => ({ items: (await projects.list()).map(projectView) }),
    )

    app.get(
      '/api/projects/:project_id',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          operationId: 'getProject',
          summary: 'One project, and what was granted to it',
          params: OneProject,
          response: { 200: ProjectDetails },
        },
      },
      (request) => detailsOf(request.params.project_id),
    )

    app.put(
      '/api/projects/:project_id',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          operationId: 'changeProject',
          summary: 'Change what is granted to a project; what is left out stays as it is',
          params: OneProject,
          body: ProjectChanges,
          response: { 200: ProjectDetails },
        },
      },
      async (request) => {
        const { project_id } = request.params
        const { biz_ids, masks, quotas: given } = request.body
        await ledger.transaction(async (tx) => {
          await projects.require(tx, project_id)
          if (given !== undefined) await quotas.set(tx, project_id, given)
          if (given !== undefined) await engine.resumeInLane(tx, EXPORT_LANE, project_id, 'quota')
          if (given?.exports_at_once !== undefined)
            await engine.setLaneShare(tx, EXPORT_LANE, project_id, given.exports_at_once)
          if (masks !== undefined) projects.setMasks(tx, project_id, masks)
          trail.record(tx, request)
          if (biz_ids !== undefined) await permissions.setBusinesses(tx, project_id, biz_ids)
        })
        return detailsOf(project_id)
      },
    )

    app.get(
      '/api/projects/:project_id/usage',
      {
        schema: {
          tags: ['projects'],
          operationId: 'getProjectUsage',
          summary: 'What a project may use, and what it uses',
          params: OneProject,
          response: { 200: Usage },
        },
      },
      async ({ params: { project_id }, principal }) => {
        requireProject(principal, project_id)
        await projects.require(ledger, project_id)
        const resets_at = new Date(quotas.resetsAt()).toISOString()
        return { project_id, resets_at, quotas: await usageOf(project_id) }
      },
    )

    app.post(
      '/api/projects/:project_id/rotate',
      {
        config: { access: 'admin', idempotent: true },
        schema: {
          tags: ['projects'],
          operationId: 'rotateSecret',
          summary: 'Replace a key or secret; the old one stays good for grace_hours, 0 ends it at once',
          params: OneProject,
          body: Rotation,
          response: { 200: Rotated },
        },
      },
      (request, reply) =>
        idempotency.answer(request, reply, async (tx) => {
          const { project_id } = request.params
          const { what, grace_hours = 24 } = request.body
          const rotated = await projects.rotate(tx, project_id, { what, graceMs: grace_hours * HOUR })
          trail.record(tx, request)
          return { status: 200, body: rotatedView(project_id, what, rotated) }
        }),
    )

    app.post(
      '/api/projects/:project_id/ticket',
      {
        schema: {
          tags: ['projects'],
          operationId: 'createProjectTicket',
          summary:
            'Permission for a browser to watch this project: its events and WebSocket only, as ?token=',
          params: OneProject,
          response: { 200: Ticket },
        },
      },
      async ({ params: { project_id }, principal }) => {
        requireProject(principal, project_id)
        await projects.require(ledger, project_id)
        const { keyId = null, sessionId = null } = issuerOf(principal)
        const issued = tickets.issue({ taskId: null, projectId: project_id, keyId, sessionId }, TICKET_MS)
        return { ticket: issued.ticket, expires_at: new Date(issued.expiresAt).toISOString() }
      },
    )

    app.delete(
      '/api/projects/:project_id',
      {
        config: { access: 'admin' },
        schema: {
          tags: ['projects'],
          operationId: 'deleteProject',
          summary: 'Delete a project that has no unfinished tasks',
          params: OneProject,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await ledger.transaction(async (tx) => {
          await projects.delete(tx, request.params.project_id)
          trail.record(tx, request)
        })
        return reply.code(204).send(null)
      },
    )
  }
}
