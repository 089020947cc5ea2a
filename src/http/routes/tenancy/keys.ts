import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { KeyView, keyView, NewKey, NewKeyView } from '../../../tenancy/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { OneProject } from '../schemas.ts'
import { OneKey } from './project-schemas.ts'

const tags = ['projects']
const config = { access: 'admin' } as const

/** Keys with their own scopes and end. One that leaked is ended without touching the others. */
export function keyRoutes({ projects, idempotency, ledger, trail }: HttpDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/projects/:project_id/keys',
      {
        config: { ...config, idempotent: true },
        schema: {
          tags,
          operationId: 'createKey',
          summary: 'Make a key; it is shown this once',
          params: OneProject,
          body: NewKey,
          response: { 201: NewKeyView },
        },
      },
      (request, reply) =>
        idempotency.answer(request, reply, async (tx) => {
          const { project_id } = request.params
          const { name, scopes, expires_at } = request.body
          const expiresAt = expires_at === undefined ? null : Date.parse(expires_at)
          await projects.require(tx, project_id)
          const key = await projects.keys.create(tx, project_id, { name, scopes, expiresAt })
          trail.record(tx, request, `${project_id} ${key.id}`)
          return { status: 201, body: { ...keyView(key), api_key: key.secret } }
        }),
    )

    app.get(
      '/api/projects/:project_id/keys',
      {
        config,
        schema: {
          tags,
          operationId: 'listKeys',
          summary: 'The keys that are still good',
          params: OneProject,
          response: { 200: Type.Object({ items: Type.Array(KeyView) }) },
        },
      },
      async ({ params: { project_id } }) => {
        await projects.require(ledger, project_id)
        return { items: (await projects.keys.list(project_id)).map(keyView) }
      },
    )

    app.delete(
      '/api/projects/:project_id/keys/:key_id',
      {
        config,
        schema: {
          tags,
          operationId: 'endKey',
          summary: 'End a key at once, with its tickets, links and streams',
          params: OneKey,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { project_id, key_id } = request.params
        await ledger.transaction(async (tx) => {
          await projects.endKey(tx, project_id, key_id)
          trail.record(tx, request)
        })
        return reply.code(204).send(null)
      },
    )
  }
}
