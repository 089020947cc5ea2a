import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { ConnectionView, type ExportsApi, NewConnection } from '../../../exports/index.ts'
import { requireProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { OneProject } from '../schemas.ts'

const config = { access: 'admin' } as const
const tags = ['exports']

const OneConnection = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })

const GrantedConnections = Type.Object(
  { items: Type.Array(Type.Pick(ConnectionView, ['name', 'driver'])) },
  { title: 'ProjectConnections' },
)

/** Databases that exports may read. */
export function connectionRoutes(
  { ledger }: HttpDeps,
  { connections }: ExportsApi,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/connections',
      {
        config,
        schema: {
          tags,
          operationId: 'listConnections',
          summary: 'All connections, without their addresses',
          response: { 200: Type.Object({ items: Type.Array(ConnectionView) }, { title: 'ConnectionList' }) },
        },
      },
      async () => ({ items: await connections.list() }),
    )

    app.put(
      '/api/connections/:name',
      {
        config,
        schema: {
          tags,
          operationId: 'putConnection',
          summary: 'Store a database that exports of some projects may read',
          params: OneConnection,
          body: NewConnection,
          response: { 200: ConnectionView },
        },
      },
      async (request) => {
        const { name } = request.params
        await ledger.transaction((tx) => connections.put(tx, name, request.body))
        return connections.get(name)
      },
    )

    app.get(
      '/api/connections/:name',
      {
        config,
        schema: {
          tags,
          operationId: 'getConnection',
          summary: 'A connection without its address',
          params: OneConnection,
          response: { 200: ConnectionView },
        },
      },
      (request) => connections.get(request.params.name),
    )

    app.delete(
      '/api/connections/:name',
      {
        config,
        schema: {
          tags,
          operationId: 'deleteConnection',
          summary: 'Take a connection away; exports that read through it fail with their next attempt',
          params: OneConnection,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await ledger.transaction((tx) => connections.delete(tx, request.params.name))
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/projects/:project_id/connections',
      {
        schema: {
          tags,
          operationId: 'listProjectConnections',
          summary: "Databases that the project's exports may read, by name",
          params: OneProject,
          response: { 200: GrantedConnections },
        },
      },
      async (request) => {
        const { project_id } = request.params
        requireProject(request.principal, project_id)
        return { items: await connections.grantedTo(project_id) }
      },
    )

    app.post(
      '/api/connections/:name/test',
      {
        config,
        schema: {
          tags,
          operationId: 'testConnection',
          summary: 'Connect as an export would',
          params: OneConnection,
          response: { 200: Type.Object({ ok: Type.Literal(true) }) },
        },
      },
      async (request, reply) => {
        const gone = new AbortController()
        reply.raw.once('close', () => gone.abort())
        await connections.test(request.params.name, gone.signal)
        return { ok: true as const }
      },
    )
  }
}
