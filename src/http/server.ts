import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { Overview } from '../jobs/index.ts'
import { AppError, ERRORS, isAppError, type Part, systemClock, unforeseen } from '../kernel/index.ts'
import { AfterAnswer } from './after-answer.ts'
import {
  refuseBytes,
  registerErrorsPage,
  sendLinkPage,
  sendProblem,
  toAppError,
  wantsLinkPage,
} from './answers/index.ts'
import {
  type Access,
  AuditTrail,
  Authenticator,
  allow,
  Cookies,
  credentialsOf,
  Idempotency,
  OwnOrigin,
  type Principal,
  TrustedProxies,
} from './auth/index.ts'
import { sendConsolePage, wantsPage } from './console/index.ts'
import type { HttpDeps, HttpServerDeps } from './http-deps.ts'
import { jsonBodies, parserOf } from './json-bodies.ts'
import {
  type BodyLimits,
  Connections,
  CrossOrigin,
  callerOf,
  closeRoute,
  IdPlaces,
  KnownPaths,
  type RateLimit,
  RequestLimiter,
  requireAddressable,
  requirePlain,
  type SharedCounts,
  watchBody,
} from './limits/index.ts'
import { Metrics, type MetricsAccess, MetricsServer } from './metrics/index.ts'
import { registerOpenApi } from './openapi/index.ts'
import {
  hasGone,
  isNowhere,
  namesTwoHosts,
  namesTypeOfNothing,
  nothingAt,
  notTaken,
  quietAfterAnswer,
  refuseLate,
} from './refusals.ts'
import { traceRequests } from './request-trace.ts'
import { sampleRoutes } from './routes/exports/index.ts'
import { consoleRoutes } from './routes/installation/console.ts'
import { deliveryRoutes } from './routes/installation/deliveries.ts'
import { healthRoutes } from './routes/installation/health.ts'
import { overviewRoutes } from './routes/installation/overview.ts'
import { auditRoutes, projectRoutes, sessionRoutes, signInRoutes } from './routes/tenancy/index.ts'
import { schemaCompilers } from './schema-compilers.ts'
import { SignInDesk } from './sign-in/sign-in-desk.ts'
import { eventRoutes } from './watch/events.ts'
import { Watchers } from './watch/watchers.ts'
import { EventSockets } from './watch/web-socket.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Not counted against the caller's rate limit. */
    unlimited?: boolean
    /** The answer ends with the server, not by itself; a server that stops does not wait for it. */
    endless?: boolean
    /** The body is a file: it may take long, but not come slowly. */
    file?: boolean
    /** It takes a token of its own, which is no project's. */
    ownAccess?: boolean
  }
}

export interface HttpServerOptions {
  host: string
  port: number
  version: string
  rateLimit: RateLimit
  /** Where instances count requests together; each for itself when missing. */
  rateCounts?: SharedCounts | undefined
  /** Under which callers reach this server; null: under the name that each uses. */
  publicUrl: string | null
  /** Proxies whose `X-Forwarded-*` headers count. */
  trustProxy: readonly string[]
  /** Origins whose pages may read answers. */
  corsOrigins: readonly string[]
  bodies: BodyLimits
  /** How long a server that stops goes on letting clients in, at least, after `/readyz` has turned 503. */
  unreadyMs: number
  metrics: MetricsAccess
  /** Folders whose disks the metrics measure. */
  folders: Record<string, string>
  samples: boolean
  docs: boolean
}

/** Ids in paths may be several thousand characters, percent-encoded. */
const MAX_ID_CHARACTERS = 32_768
const MAX_HEADER_BYTES = 128 * 1024
const MAX_BODY_BYTES = 1024 * 1024
/** Within which the headers of a request must be there. */
const HEADERS_MS = 20_000

const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The HTTP transport: knows keys, problems and limits, and hands everything else to the domains' routes. */
export class HttpServer implements Part {
  readonly name = 'http'
  readonly #deps: HttpDeps
  readonly #options: HttpServerOptions
  readonly #limiter: RequestLimiter
  readonly #crossOrigin: CrossOrigin
  readonly #connections = new Connections()
  readonly #stop = new AbortController()
  #app: FastifyInstance | undefined
  #address: string | undefined
  #metrics: MetricsServer | undefined
  #metricsAddress: string | null = null
  #draining = false
  #disconnected: Promise<void> | undefined

  constructor(deps: HttpServerDeps, options: HttpServerOptions) {
    const metrics = new Metrics(deps, options)
    const stopping = this.#stop.signal
    const proxies = new TrustedProxies(options.trustProxy)
    const own = new OwnOrigin(proxies, options.publicUrl)
    const shared = {
      ...deps,
      trail: new AuditTrail({ ...deps, clock: systemClock }),
      authenticator: new Authenticator(deps),
      cookies: new Cookies(own),
      own,
    }
    this.#deps = {
      ...shared,
      desk: new SignInDesk(shared),
      idempotency: new Idempotency(deps),
      after: new AfterAnswer(),
      metrics,
      overview: new Overview(deps.engine, deps.watched),
      stopping,
      watchers: new Watchers({ ...deps, metrics, stopping }),
      proxies,
      isDraining: () => this.#draining,
    }
    this.#options = options
    this.#limiter = new RequestLimiter(options.rateLimit, options.rateCounts)
    this.#crossOrigin = new CrossOrigin(options.corsOrigins)
  }

  /** Where it listens, once started. */
  get address(): string {
    if (this.#address === undefined) throw new Error('the HTTP server has not started')
    return this.#address
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
    const shown = host.includes(':') ? `[${host}]` : host
    this.#address = `http://${shown}:${(app.server.address() as AddressInfo).port}`
    await this.#serveMetrics()
  }

  /** Where the metrics are when they have a port of their own, once started. */
  get metricsAddress(): string | null {
    return this.#metricsAddress
  }

  async #serveMetrics(): Promise<void> {
    const { host, metrics } = this.#options
    if (metrics.port === null) return
    this.#metrics = new MetricsServer(this.#deps.metrics, metrics)
    this.#metricsAddress = await this.#metrics.listen(host, metrics.port)
    this.#deps.log.info(`metrics are at ${this.#metricsAddress}/metrics`)
  }

  /** Not ready from now on, so that load balancers choose another instance; requests that come nevertheless are answered. */
  async drain(until: AbortSignal): Promise<void> {
    this.#draining = true
    this.#connections.leave()
    if (this.#options.unreadyMs > 0)
      await systemClock.sleep(this.#options.unreadyMs, until).catch(() => undefined)
  }

  disconnect(until: AbortSignal): Promise<void> {
    this.#disconnected ??= this.#disconnect(until)
    return this.#disconnected
  }

  async #disconnect(until: AbortSignal): Promise<void> {
    // A timer of this kind fires right after new connections were taken: closing then resets as few as possible.
    await new Promise((resolve) => setImmediate(resolve))
    this.#app?.server.close()
    this.#stop.abort()
    await this.#connections.finish(until, refuseLate)
  }

  async stop(): Promise<void> {
    await this.disconnect(AbortSignal.abort())
    this.#metrics?.close()
    await this.#app?.close()
    await this.#deps.after.done()
  }

  async build(): Promise<FastifyInstance> {
    const app = fastify({
      loggerInstance: this.#deps.log,
      logController: new LogController({ disableRequestLogging: true }),
      genReqId: () => randomUUID(),
      trustProxy: (address) => this.#deps.proxies.trusts(address),
      bodyLimit: MAX_BODY_BYTES,
      forceCloseConnections: 'idle',
      // It would answer without a problem document.
      return503OnClosing: false,
      routerOptions: { maxParamLength: MAX_ID_CHARACTERS, ignoreTrailingSlash: true },
      http: {
        maxHeaderSize: MAX_HEADER_BYTES,
        headersTimeout: Math.min(HEADERS_MS, this.#options.bodies.smallMs),
        connectionsCheckingInterval: Math.min(HEADERS_MS, this.#options.bodies.smallMs) / 4,
        // Node's own answer has no problem document.
        requireHostHeader: false,
        // A client that offers another protocol (h2c) is answered in this one.
        shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
      },
      ajv: {
        customOptions: { allErrors: true, removeAdditional: false, verbose: true, discriminator: true },
      },
      schemaController: { compilersFactory: schemaCompilers() },
      clientErrorHandler: refuseBytes,
      // An address that cannot be decoded reaches no route; the console says so in words.
      frameworkErrors: (error, request, reply) =>
        error.code === 'FST_ERR_BAD_URL' && wantsPage(request)
          ? sendConsolePage(reply)
          : this.#answerError(error, request, reply),
    }).withTypeProvider<TypeBoxTypeProvider>()
    this.#app = app as unknown as FastifyInstance
    // Fastify reads it by itself; here it is no form of a body, and 415 says so.
    app.removeContentTypeParser('text/plain')
    jsonBodies(this.#app, parserOf(this.#app))
    this.#connections.watch(app.server)
    // Node would refuse any expectation but 100-continue without a problem document; it may as well be ignored.
    app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
    this.#addHooks(this.#app)
    await registerOpenApi(this.#app, this.#options)
    registerErrorsPage(this.#app)
    await app.register(consoleRoutes)
    await app.register(sessionRoutes(this.#deps))
    await app.register(signInRoutes(this.#deps))
    await app.register(healthRoutes(this.#deps, this.#options.metrics))
    await app.register(projectRoutes(this.#deps))
    if (this.#options.samples) await app.register(sampleRoutes)
    for (const routes of this.#deps.routes)
      for (const plugin of routes(this.#deps)) await app.register(plugin)
    await app.register(eventRoutes(this.#deps))
    new EventSockets({ ...this.#deps, limiter: this.#limiter }).attach(app.server)
    await app.register(overviewRoutes(this.#deps))
    await app.register(deliveryRoutes(this.#deps))
    await app.register(auditRoutes(this.#deps))
    await app.ready()
    return this.#app
  }

  #addHooks(app: FastifyInstance): void {
    const places = new IdPlaces()
    const known = new KnownPaths()
    app.addHook('onRoute', (route) => {
      closeRoute(route)
      places.add(route)
      known.add(route)
      route.handler = quietAfterAnswer(route.handler)
    })
    app.decorateRequest('principal', null)
    app.decorateRequest('audited', false)
    traceRequests(app)
    app.addHook('onRequest', async (request, reply) => {
      this.#connections.answering(reply, { endless: request.routeOptions.config.endless ?? false })
      reply.headers({
        'X-Request-Id': request.id,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cache-Control': 'no-store',
        'Content-Security-Policy': PAGE_POLICY,
      })
      watchBody(request, reply, this.#options.bodies)
      if (this.#crossOrigin.allow(request, reply)) return reply
      if (request.raw.httpVersion === '1.1' && request.headers.host === undefined)
        throw new AppError(ERRORS.REQUEST_INVALID, 'the request names no host')
      if (namesTwoHosts(request)) throw new AppError(ERRORS.REQUEST_INVALID, 'the request names two hosts')
      if (namesTypeOfNothing(request)) delete request.headers['content-type']
      // Nobody's, like the page at the root, and there also while neither session nor ledger can be asked.
      if (isNowhere(request) && wantsPage(request)) return
      const { access = 'any', unlimited = false, ownAccess = false } = request.routeOptions.config
      try {
        if (!ownAccess) request.principal = await this.#identify(request, access)
      } catch (error) {
        // What is open to everybody is open to somebody with an old key, too.
        if (access !== 'open' || !isAppError(error, ERRORS.UNAUTHENTICATED)) throw error
      } finally {
        // Also when the key was wrong: guessing keys is limited by address.
        if (!unlimited) await this.#limiter.count(callerOf(request.principal, request.ip), reply)
      }
      const { method, routeOptions } = request
      allow(request.principal, isNowhere(request) ? 'open' : access, {
        method,
        route: routeOptions.url ?? '',
      })
      // A cookie comes along by itself, whichever page asks.
      const byCookie = request.headers.authorization === undefined && request.principal?.session
      if (byCookie && request.principal?.role !== 'ticket' && !['GET', 'HEAD', 'OPTIONS'].includes(method))
        this.#deps.desk.requireOwnPage(request)
      if (places.lacksId(request)) throw nothingAt(request)
      await this.#deps.diskRoom.require(method, routeOptions.url ?? '')
    })
    // After validation, which reads numbers out of the query.
    app.addHook('preHandler', async ({ params, query, body, principal }) => {
      requirePlain(params, 'path')
      requireAddressable(params)
      requirePlain(query, 'query')
      requirePlain(body, 'body')
      if (principal?.role === 'admin') await this.#requireProjects(params, query)
    })
    app.addHook('onSend', async (request, reply) => this.#deps.trail.follow(request, reply))
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
    app.setErrorHandler((error: FastifyError, request, reply) => this.#answerError(error, request, reply))
    app.setNotFoundHandler((request, reply) => {
      if (wantsPage(request)) return sendConsolePage(reply)
      const methods = known.methodsAt(request.url)
      if (methods.length === 0) return sendProblem(request, reply, nothingAt(request))
      return sendProblem(request, reply.header('Allow', methods.join(', ')), notTaken(request, methods))
    })
  }

  /** To the admin every project is open; one that does not exist must not look like one that has nothing. */
  async #requireProjects(...places: unknown[]): Promise<void> {
    const { projects, ledger } = this.#deps
    for (const { project_id } of places as { project_id?: string }[])
      if (project_id !== undefined) await projects.require(ledger, project_id)
  }

  #identify(request: FastifyRequest, access: Access): Promise<Principal | null> {
    const { authenticator, cookies } = this.#deps
    return authenticator.identify(credentialsOf(request, access, cookies))
  }

  #answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const problem = hasGone(request, error)
      ? new AppError(ERRORS.CALLER_GONE, 'the caller has gone', { cause: error })
      : toAppError(error)
    this.#deps.metrics.problems.inc({ code: problem.code })
    if (problem.kind === ERRORS.UNAUTHENTICATED || problem.kind === ERRORS.FORBIDDEN)
      this.#deps.after.add('recording a refused attempt', this.#deps.trail.refused(request))
    if (problem.kind === ERRORS.INTERNAL) unforeseen(`request ${request.id}: ${request.method}`, error)
    else if (problem.kind.http >= 500) request.log.error({ err: error, code: problem.code }, problem.message)
    if (wantsLinkPage(request)) return sendLinkPage(request, reply, problem)
    return sendProblem(request, reply, problem)
  }
}
