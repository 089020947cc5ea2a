import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, ERRORS, isAppError } from '../../../kernel/index.ts'
import { sendProblem, toAppError } from '../../answers/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { localPage, PendingSignIns } from '../../sign-in/pending-sign-in.ts'
import { sendSignInProblem } from '../../sign-in/problem-page.ts'
import { personFrom } from '../../sign-in/roles.ts'

const options = { config: { access: 'open' as const }, schema: { hide: true } }

/** People sign in with an OpenID Connect issuer. These are pages for browsers, not routes for programs. */
export function signInRoutes(deps: HttpDeps): FastifyPluginAsync {
  const { provider, projects, audit, own, desk, log } = deps
  const pendings = new PendingSignIns(deps)

  const requireProvider = () => {
    if (provider !== null) return provider
    throw new AppError(ERRORS.SIGN_IN_OFF, 'OIDC_ISSUER and OIDC_CLIENT_ID are not set; sign in with a key')
  }

  const login = async (request: FastifyRequest, reply: FastifyReply) => {
    const base = own.baseFor(request.raw)
    if (base === undefined) throw new AppError(ERRORS.REQUEST_INVALID, 'the request names no host')
    const { url, begun } = await requireProvider().begin(`${base}/auth/callback`)
    const to = localPage((request.query as { to?: unknown }).to)
    return reply.header('Set-Cookie', pendings.keep(request.raw, { ...begun, to })).redirect(url, 302)
  }

  const callback = async (request: FastifyRequest, reply: FastifyReply) => {
    const query = request.url.split('?')[1] ?? ''
    const state = new URLSearchParams(query).get('state') ?? ''
    const pending = pendings.find(request.raw, state)
    if (!pending)
      throw new AppError(
        ERRORS.SIGN_IN_FAILED,
        'this sign-in was not begun in this browser, or more than ten minutes ago; try again',
      )
    reply.header('Set-Cookie', pendings.forget(request.raw, state))
    const claims = await requireProvider().finish(query, pending)
    const person = await whoIs(request, claims)
    await desk.open(request, reply, { kind: 'person', person })
    return reply.redirect(pending.to, 302)
  }

  /** A refusal is recorded: who tried, and with which name. */
  const whoIs = async (request: FastifyRequest, claims: Parameters<typeof personFrom>[0]) => {
    const { roleClaim } = requireProvider()
    try {
      const { person, ambiguous } = personFrom(claims, { roleClaim, projects: await projects.list() })
      for (const sentence of ambiguous) log.warn({ subject: claims.sub }, `a role at sign-in: ${sentence}`)
      return person
    } catch (error) {
      if (isAppError(error, ERRORS.SIGN_IN_REFUSED))
        await audit.recordAlone({
          actor: `person ${error.details.name}`,
          action: 'session.refused',
          projectId: null,
          target: '',
          address: request.ip,
          detail: { subject: claims.sub },
        })
      throw error
    }
  }

  /** By a link or a form of this server's own pages; a foreign page ends nobody's session. */
  const logout = async (request: FastifyRequest, reply: FastifyReply) => {
    const site = request.headers['sec-fetch-site'] ?? 'none'
    if (site === 'same-origin' || site === 'none') await desk.leave(request, reply)
    return reply.redirect('/', 302)
  }

  return async (app: FastifyInstance) => {
    app.setErrorHandler((caught: Error, request, reply) => {
      const error = toAppError(caught)
      if (error.kind.http >= 500 || isAppError(error, ERRORS.SIGN_IN_FAILED))
        log.warn({ err: error, code: error.code }, 'a sign-in did not succeed')
      const wantsPage = (request.headers.accept ?? '').includes('text/html')
      return wantsPage ? sendSignInProblem(request, reply, error) : sendProblem(request, reply, error)
    })
    app.get('/auth/login', options, login)
    app.get('/auth/callback', options, callback)
    app.get('/auth/logout', options, logout)
  }
}
