import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DRIVERS, type ExportsApi } from '../../../exports/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { Time } from '../schemas.ts'

const config = { access: 'admin' } as const
const tags = ['exports']

const OneConnection = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })

const Connection = Type.Object(
  {
    name: Type.String(),
    driver: Type.Enum([...DRIVERS]),
    projects: Type.Array(Type.String()),
    updated_at: Time,
  },
  { title: 'Connection' },
)

const NewConnection = Type.Object(
  {
    driver: Type.Enum([...DRIVERS]),
    url: Type.String({ minLength: 1, maxLength: 16_384, description: 'Sealed, and never shown again' }),
    projects: Type.Array(Type.String({ maxLength: 200 }), {
      maxItems: 10_000,
      description: 'Ids of the projects that may use it',
    }),
  },
  {
    title: 'ConnectionRequest',
    examples: [{ driver: 'postgres', url: 'postgres://reader:secret@db.example.com/erp', projects: ['erp'] }],
    additionalProperties: false,
  },
)

/** Databases that exports may read. */
export function connectionRoutes(
  { ledger }: HttpDeps,
  { connections }: ExportsApi,
): FastifyPluginAsyncTypebox {
  return async (app) => {
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
          response: { 200: Connection },
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
          response: { 200: Connection },
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
