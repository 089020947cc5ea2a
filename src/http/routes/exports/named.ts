import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { stringifyKeepingOrder } from '../../../exports/index.ts'
import type { Tx } from '../../../ledger/index.ts'
import { ownProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'

/** Of a template or a saved export. */
export const OneName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })

export const DryRun = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Check it and say what would be done; store nothing' })),
})

const Outcome = Type.Enum(['created', 'changed', 'unchanged'])
export const Applied = Type.Object({ name: Type.String(), outcome: Outcome }, { title: 'Applied' })

interface NamedStore<T> {
  put(
    tx: Tx,
    which: { projectId: string; name: string; dryRun: boolean },
    value: T,
  ): Promise<'created' | 'changed' | 'unchanged'>
  delete(tx: Tx, projectId: string, name: string): Promise<void>
}

type Asked = FastifyRequest<{ Params: { name: string }; Querystring: { dry_run?: boolean } }>

/** Stores and deletes what a project keeps under a name. Only a change is recorded in the audit log. */
export function namedActions<T>({ ledger, trail }: HttpDeps, store: NamedStore<T>) {
  return {
    async put(request: Asked, value: T) {
      const projectId = ownProject(request.principal)
      const { name } = request.params
      const { dry_run: dryRun = false } = request.query
      const outcome = await ledger.transaction(async (tx) => {
        const done = await store.put(tx, { projectId, name, dryRun }, value)
        if (!dryRun && done !== 'unchanged') trail.record(tx, request)
        return done
      })
      request.audited = true
      return { name, outcome }
    },

    async remove(request: Asked, reply: FastifyReply) {
      const projectId = ownProject(request.principal)
      await ledger.transaction((tx) => store.delete(tx, projectId, request.params.name))
      return reply.code(204).send(null)
    },
  }
}

export function sendOrdered(reply: FastifyReply, value: unknown): never {
  return reply.type('application/json').send(stringifyKeepingOrder(value)) as never
}
