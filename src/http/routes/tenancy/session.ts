import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { Type } from 'typebox'
import { listedSession } from '../../../tenancy/index.ts'
import { type Principal, personOf } from '../../auth/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { OneSession, SessionPage, SessionView, SignInMethods, SignInWithKey } from './session-schemas.ts'

const tags = ['sessions']

/** Who is signed in, by key or by session, and the last `seq` of the event log: a reader takes its snapshots next, and then follows from `seq`. */
export function sessionRoutes(deps: HttpDeps): FastifyPluginAsyncTypebox {
  const { engine, projects, sessions, ledger, trail, desk, provider } = deps
  const view = async (principal: Principal | null): Promise<Static<typeof SessionView>> => {
    const project = principal?.role === 'project' ? principal.project : null
    const person = personOf(principal)
    const roles = project && person ? person.roles.projects : {}
    const own = await projects.some(Object.keys(roles))
    const session = principal?.session ?? null
    return {
      role: project ? 'project' : 'admin',
      project_id: project?.id ?? null,
      project_name: project?.name ?? null,
      scopes: principal?.role === 'project' ? [...principal.scopes] : null,
      looks_only: principal?.role === 'admin' && principal.looksOnly,
      person: person && { subject: person.subject, name: person.name },
      projects: own.map(({ id, name }) => ({ project_id: id, name, role: roles[id] ?? 'viewer' })),
      key_id: principal?.role === 'ticket' ? null : (principal?.keyId ?? null),
      session_id: session?.id ?? null,
      expires_at: session && new Date(session.expiresAt).toISOString(),
      seq: await engine.events.last(),
    }
  }

  return async (app) => {
    app.get(
      '/api/session',
      {
        schema: {
          tags,
          operationId: 'getSession',
          summary: 'Whose key or session this is',
          response: { 200: SessionView },
        },
      },
      ({ principal }) => view(principal),
    )

    app.post(
      '/api/session',
      {
        config: { access: 'open' },
        schema: {
          tags,
          operationId: 'signIn',
          summary: 'Sign a browser in with a key, once: the answer sets a cookie that scripts cannot read',
          body: SignInWithKey,
          response: { 200: SessionView },
        },
      },
      async (request, reply) => {
        await desk.withKey(request, reply, request.body.key)
        return view(request.principal)
      },
    )

    app.delete(
      '/api/session',
      {
        schema: {
          tags,
          operationId: 'signOut',
          summary: 'Sign out: end the session of this browser',
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await desk.leave(request, reply)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/api/sign-in',
      {
        config: { access: 'open' },
        schema: {
          tags,
          operationId: 'getSignInMethods',
          summary: 'How people can sign in here',
          response: { 200: SignInMethods },
        },
      },
      async () => ({ methods: provider === null ? ['key' as const] : ['oidc' as const, 'key' as const] }),
    )

    app.get(
      '/api/sessions',
      {
        config: { access: 'admin' },
        schema: {
          tags,
          operationId: 'listSessions',
          summary: 'Who is signed in',
          response: { 200: SessionPage },
        },
      },
      async () => ({ items: (await sessions.list()).map(listedSession) }),
    )

    app.delete(
      '/api/sessions/:session_id',
      {
        config: { access: 'admin' },
        schema: {
          tags,
          operationId: 'endSession',
          summary: 'End a session at once, with its tickets, links and streams',
          params: OneSession,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await ledger.transaction(async (tx) => {
          await sessions.end(tx, request.params.session_id)
          trail.record(tx, request)
        })
        return reply.code(204).send(null)
      },
    )
  }
}
