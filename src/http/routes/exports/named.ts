import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { VersionWish } from '../../../exports/index.ts'
import { AppError, ERRORS, stringifyKeepingOrder } from '../../../kernel/index.ts'
import type { Tx } from '../../../ledger/index.ts'
import { requireProject } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'

/** Of a template or a saved export. */
export const OneName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })

/** Whose they are; a key says so by itself. */
export const ofProject = {
  project_id: Type.Optional(
    Type.String({ maxLength: 200, description: 'Needed with the admin token, which has no project' }),
  ),
}

export const DryRun = Type.Object({
  ...ofProject,
  dry_run: Type.Optional(Type.Boolean({ description: 'Check it and say what would be done; store nothing' })),
})

const Outcome = Type.Enum(['created', 'changed', 'unchanged'])
export const Applied = Type.Object({ name: Type.String(), outcome: Outcome }, { title: 'Applied' })

interface NamedStore<T> {
  put(
    tx: Tx,
    which: { projectId: string; name: string; dryRun: boolean; version: VersionWish },
    value: T,
  ): Promise<{ outcome: 'created' | 'changed' | 'unchanged'; etag?: string | null }>
  delete(tx: Tx, projectId: string, name: string, version: VersionWish): Promise<void>
}

type Asked = FastifyRequest<{
  Params: { name: string }
  Querystring: { dry_run?: boolean; project_id?: string }
}>

/** The project whose key was shown, or the one that the admin names. */
export function projectFor({
  principal,
  query,
}: FastifyRequest<{ Querystring: { project_id?: string } }>): string {
  const { project_id } = query
  if (principal?.role === 'project') {
    if (project_id !== undefined) requireProject(principal, project_id)
    return principal.project.id
  }
  if (project_id === undefined)
    throw new AppError(ERRORS.REQUEST_INVALID, 'querystring must have project_id with the admin token')
  return project_id
}

/** Stores and deletes what a project keeps under a name. Only a change is recorded in the audit log. */
export function namedActions<T>(deps: HttpDeps, store: NamedStore<T>) {
  const { ledger, trail } = deps
  return {
    async put(request: Asked, reply: FastifyReply, value: T) {
      const projectId = projectFor(request)
      const { name } = request.params
      const { dry_run: dryRun = false } = request.query
      const { outcome, etag } = await ledger.transaction(async (tx) => {
        const done = await store.put(tx, { projectId, name, dryRun, version: versionOf(request) }, value)
        if (!dryRun && done.outcome !== 'unchanged') trail.record(tx, request)
        return done
      })
      request.audited = true
      if (etag) reply.header('etag', etag)
      return { name, outcome }
    },

    async remove(request: Asked, reply: FastifyReply) {
      const projectId = projectFor(request)
      await ledger.transaction((tx) => store.delete(tx, projectId, request.params.name, versionOf(request)))
      return reply.code(204).send(null)
    },
  }
}

function versionOf({ headers }: FastifyRequest): VersionWish {
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }
}

export function sendOrdered(reply: FastifyReply, value: unknown): never {
  return reply.type('application/json').send(stringifyKeepingOrder(value)) as never
}
