import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyError, type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import { AppError, ERRORS, type Part } from '../kernel/index.ts'
import { Authenticator, allow, credentialsOf } from './auth.ts'
import { sendConsolePage, wantsPage } from './console/index.ts'
import type { HttpDeps, HttpServerDeps } from './http-deps.ts'
import { Idempotency } from './idempotency.ts'
import { Metrics } from './metrics.ts'
import { registerOpenApi } from './openapi.ts'
import { sendProblem, toAppError } from './problem.ts'
import { type RateLimit, RequestLimiter } from './rate-limit.ts'
import { consoleRoutes } from './routes/console.ts'
import { eventRoutes } from './routes/events.ts'
import { exportRoutes } from './routes/exports.ts'
import { healthRoutes } from './routes/health.ts'
import { overviewRoutes } from './routes/overview.ts'
import { processingRoutes } from './routes/processing.ts'
import { projectRoutes } from './routes/projects.ts'
import { runRoutes } from './routes/runs.ts'
import { sampleRoutes } from './routes/samples.ts'
import { sessionRoutes } from './routes/session.ts'
import { transferRoutes } from './routes/transfers.ts'
import { EventSockets } from './web-socket.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Not counted against the caller's rate limit. */
    unlimited?: boolean
  }
}

export interface HttpServerOptions {
  host: string
  port: number
  version: string
  rateLimit: RateLimit
}

/** Ids in paths may be several thousand characters, percent-encoded. */
const MAX_ID_CHARACTERS = 32_768
const MAX_HEADER_BYTES = 128 * 1024
const MAX_BODY_BYTES = 1024 * 1024

const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The HTTP transport: knows keys, problems and limits, and hands everything else to the domains' routes. */
export class HttpServer implements Part {
  readonly name = 'http'
  readonly #deps: HttpDeps
  readonly #options: HttpServerOptions
  readonly #limiter: RequestLimiter
  readonly #authenticator: Authenticator
  readonly #stop = new AbortController()
  #app: FastifyInstance | undefined

  constructor(deps: HttpServerDeps, options: HttpServerOptions) {
    this.#deps = {
      ...deps,
      idempotency: new Idempotency(deps),
      metrics: new Metrics(deps.ledger),
      stopping: this.#stop.signal,
    }
    this.#options = options
    this.#limiter = new RequestLimiter(options.rateLimit)
    this.#authenticator = new Authenticator(deps)
  }

  /** Where it listens, once started. */
  get address(): string {
    const address = this.#app?.server.address()
    if (!address || typeof address === 'string') throw new Error('the HTTP server is not listening')
    const host = this.#options.host.includes(':') ? `[${this.#options.host}]` : this.#options.host
    return `http://${host}:${address.port}`
  }

  async start(): Promise<void> {
    const { host, port } = this.#options
    const app = await this.build()
    await app.listen({ host, port, listenTextResolver: () => 'HTTP is up' }).catch((cause) => {
      throw new AppError(
        ERRORS.CONFIG_INVALID,
        `cannot listen on ${host}:${port} (${cause.code}); set WHARF_HOST or WHARF_PORT to something else`,
        { cause },
      )
    })
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    // A connection that is still answering falls idle only after `close` has looked for idle ones.
    if (this.#app) this.#app.server.keepAliveTimeout = 1
    await this.#app?.close()
  }

  async build(): Promise<FastifyInstance> {
    const app = fastify({
      loggerInstance: this.#deps.log,
      logController: new LogController({ disableRequestLogging: true }),
      genReqId: () => randomUUID(),
      bodyLimit: MAX_BODY_BYTES,
      forceCloseConnections: 'idle',
      routerOptions: { maxParamLength: MAX_ID_CHARACTERS, ignoreTrailingSlash: true },
      http: { maxHeaderSize: MAX_HEADER_BYTES },
      ajv: { customOptions: { allErrors: true, coerceTypes: 'array', removeAdditional: false } },
    }).withTypeProvider<TypeBoxTypeProvider>()
    this.#app = app as unknown as FastifyInstance
    this.#addHooks(this.#app)
    await registerOpenApi(this.#app, this.#options.version)
    await app.register(consoleRoutes)
    await app.register(sessionRoutes(this.#deps))
    await app.register(healthRoutes(this.#deps))
    await app.register(projectRoutes(this.#deps))
    await app.register(sampleRoutes)
    await app.register(exportRoutes(this.#deps))
    await app.register(eventRoutes(this.#deps))
    await app.register(transferRoutes(this.#deps))
    new EventSockets({ ...this.#deps, authenticator: this.#authenticator }).attach(app.server)
    await app.register(runRoutes(this.#deps))
    await app.register(overviewRoutes(this.#deps))
    await app.register(processingRoutes(this.#deps, this.#deps.processing))
    await app.ready()
    return this.#app
  }

  #addHooks(app: FastifyInstance): void {
    app.decorateRequest('principal', null)
    app.addHook('onRequest', async (request, reply) => {
      reply.headers({
        'X-Request-Id': request.id,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cache-Control': 'no-store',
        'Content-Security-Policy': PAGE_POLICY,
      })
      const { access = 'any', unlimited = false } = request.routeOptions.config
      try {
        request.principal = await this.#authenticator.identify(credentialsOf(request, access))
      } finally {
        // Also when the key was wrong: guessing keys is limited by address.
        if (!unlimited) await this.#limiter.count(callerOf(request), reply)
      }
      allow(request.principal, isPublic(request) ? 'open' : access)
    })
    app.addHook('onResponse', async (request, reply) => {
      const route = request.routeOptions.url ?? 'unknown'
      const seconds = reply.elapsedTime / 1000
      this.#deps.metrics.requests.observe(
        { method: request.method, route, status: String(reply.statusCode) },
        seconds,
      )
      request.log.info(
        {
          method: request.method,
          route,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
          from: request.ip,
        },
        'answered',
      )
    })
    app.setErrorHandler((error: FastifyError, request, reply) => {
      const problem = toAppError(error)
      this.#deps.metrics.problems.inc({ code: problem.code })
      if (problem.kind.http >= 500) request.log.error({ err: error, code: problem.code }, problem.message)
      return sendProblem(request, reply, problem)
    })
    app.setNotFoundHandler((request, reply) => {
      if (wantsPage(request)) return sendConsolePage(reply)
      const path = request.url.split('?')[0] ?? ''
      return sendProblem(
        request,
        reply,
        new AppError(ERRORS.NOT_FOUND, `there is nothing at ${request.method} ${path}`),
      )
    })
  }
}

function callerOf(request: FastifyRequest): string {
  const { principal } = request
  if (principal?.role === 'project') return `project ${principal.project.id}`
  if (principal?.role === 'ticket') return `task ${principal.taskId}`
  return principal ? 'admin' : `address ${request.ip}`
}

/** The API reference's own pages belong to a plugin that does not know of access. */
function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.url?.startsWith('/docs') ?? true
}
