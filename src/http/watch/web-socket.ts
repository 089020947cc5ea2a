import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { TaskViews } from '../../domain/index.ts'
import type { Engine } from '../../jobs/index.ts'
import { AppError, background, bestEffort, closest, ERRORS, unforeseen } from '../../kernel/index.ts'
import type { LinkIssuer } from '../../tenancy/index.ts'
import { refuseSocket, toAppError } from '../answers/index.ts'
import {
  type Authenticator,
  allow,
  type Cookies,
  grantOf,
  issuerOf,
  type OwnOrigin,
  type Principal,
  requireTask,
  SESSION_COOKIE,
  type TrustedProxies,
} from '../auth/index.ts'
import type { HttpServerDeps } from '../http-deps.ts'
import { callerOf, type RequestLimiter } from '../limits/index.ts'
import { filterFor } from './events.ts'
import type { Watch, Watchers } from './watchers.ts'
import { WebSocketLine } from './web-socket-line.ts'

export interface WebSocketDeps {
  engine: Engine
  authenticator: Authenticator
  limiter: RequestLimiter
  views: TaskViews
  watchers: Watchers
  stopping: AbortSignal
  proxies: TrustedProxies
  cookies: Cookies
  own: OwnOrigin
  sockets: HttpServerDeps['sockets']
}

/** A task that is watched, as its caller sees it. */
interface Found {
  kind: string
  projectId: string | null
  view: (object & { status?: unknown }) | undefined
}

/** For the answer to the close frame of a server that stops. */
const CLOSE_MS = 200

/** `GET /ws?task_id=…` or `?project_id=…`: the same messages as SSE, and the present state at once for a task. */
export class EventSockets {
  readonly #deps: WebSocketDeps
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: 16 * 1024 })

  constructor(deps: WebSocketDeps) {
    this.#deps = deps
  }

  attach(server: Server): void {
    this.#server.on('wsClientError', (error, socket) => refuseSocket(socket, badHandshake(error)))
    server.on('upgrade', (request, socket, head) => {
      // Here and not later: from now on nobody but us hears of a reset, and an error without a listener ends the process.
      socket.on('error', () => socket.destroy())
      bestEffort(this.#upgrade(request, socket, head), (error) => {
        const problem = toAppError(error as Error)
        if (problem.kind === ERRORS.INTERNAL) unforeseen('a WebSocket was not let in', error)
        refuseSocket(socket, problem)
      })
    })
    this.#deps.stopping.addEventListener('abort', () => {
      setTimeout(() => {
        for (const client of this.#server.clients) client.terminate()
      }, CLOSE_MS).unref()
    })
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (this.#deps.stopping.aborted)
      throw new AppError(ERRORS.SHUTTING_DOWN, 'this instance is shutting down; connect again', {
        retryAfter: 1,
      })
    const url = URL.parse(request.url ?? '/', 'http://localhost')
    if (!url || !isHandshake(request)) throw badHandshake()
    const address = this.#deps.proxies.addressOf(request)
    const own = this.#deps.sockets[url.pathname]
    if (own) {
      await this.#deps.limiter.count(callerOf(null, address))
      return own(request, socket, head, (error) => refuseSocket(socket, error))
    }
    if (url.pathname !== '/ws')
      throw new AppError(ERRORS.NOT_FOUND, `there is no WebSocket at ${url.pathname}`)
    requireKnown(url.searchParams)
    const parameter = (name: string) => url.searchParams.get(name) ?? undefined
    let principal: Principal | null = null
    try {
      principal = await this.#deps.authenticator.identify({
        authorization: request.headers.authorization,
        token: parameter('token') ?? parameter('ticket'),
        session: this.#sessionOf(request),
        project: parameter('project_id'),
      })
    } finally {
      await this.#deps.limiter.count(callerOf(principal, address))
    }
    allow(principal, 'ticket', { method: 'GET', route: url.pathname })
    // A ticket names its task by itself.
    const taskId =
      parameter('task_id') ?? (principal?.role === 'ticket' ? (principal.taskId ?? undefined) : undefined)
    const filter = filterFor(principal, { taskId, projectId: parameter('project_id') })
    const after = readSeq(parameter('after'))
    const { watchers } = this.#deps
    const watch = await watchers.open(after, filter, grantOf(principal))
    socket.once('close', () => watch.cancel())
    if (socket.destroyed) return watch.cancel()
    const issuer = { ...issuerOf(principal), origin: this.#deps.proxies.originOf(request) }
    const state = await this.#first(watch, principal, { taskId, issuer })
    this.#server.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => client.terminate())
      if (state) client.send(JSON.stringify(state))
      background(
        'a WebSocket of events',
        watchers.serve(watch, new WebSocketLine(client, socket)).finally(() => client.close()),
      )
    })
  }

  /** A browser sends its cookie whichever page opens the socket, so only pages of this server may use it. */
  #sessionOf(request: IncomingMessage): string | undefined {
    const { cookies, own } = this.#deps
    return own.isOwnPage(request) ? cookies.read(request, SESSION_COOKIE) : undefined
  }

  /** Read after the watch was opened: an event that falls in between is then sent twice rather than never. */
  async #first(
    watch: Watch,
    principal: Principal | null,
    { taskId, issuer }: { taskId: string | undefined; issuer: LinkIssuer },
  ) {
    if (taskId === undefined) return undefined
    try {
      return await this.#state(principal, await this.#find(taskId, issuer), { taskId, seq: watch.logEnd })
    } catch (error) {
      watch.cancel()
      throw error
    }
  }

  async #state(
    principal: Principal | null,
    { kind, projectId, view }: Found,
    { taskId, seq }: { taskId: string; seq: number },
  ): Promise<object> {
    const watched = principal?.role === 'ticket' && principal.taskId === null
    if (!watched || principal.projectId !== projectId)
      requireTask(principal, { id: taskId, projectId }, () => this.#missing(taskId, kind))
    return {
      ...view,
      // A ticket for watching a project opens no files.
      ...(watched && { download_url: null }),
      seq,
      prev_seq: seq,
      type: `${kind}.${String(view?.status ?? 'state').toLowerCase()}`,
      task_id: taskId,
    }
  }

  async #find(taskId: string, issuer: LinkIssuer): Promise<Found> {
    const { engine, views } = this.#deps
    for (const [kind, { owns, get }] of Object.entries(views)) {
      if (!owns?.(taskId)) continue
      const view = (await get(taskId, issuer)) as { project_id?: unknown }
      return { kind, projectId: String(view.project_id), view }
    }
    const found = await engine.jobs.task(taskId)
    if (!found) throw this.#missing(taskId)
    const { kind, projectId } = found.task
    return { kind, projectId, view: await views[kind]?.get(taskId, issuer) }
  }

  #missing(taskId: string, kind = ''): AppError {
    const missing = this.#deps.views[kind]?.missing?.(taskId)
    return missing ?? new AppError(ERRORS.TASK_NOT_FOUND, `there is no task ${taskId}`)
  }
}

/** Checked here for the handler of the socket. */
function isHandshake({ method, headers }: IncomingMessage): boolean {
  const key = headers['sec-websocket-key'] ?? ''
  return method === 'GET' && headers['sec-websocket-version'] === '13' && /^[+/0-9A-Za-z]{22}==$/.test(key)
}

function badHandshake(cause?: Error): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, 'this is no handshake of a WebSocket', { cause })
}

const PARAMETERS = ['task_id', 'project_id', 'after', 'token', 'ticket']

/** As every route over HTTP: a misspelt name is refused and not ignored. */
function requireKnown(query: URLSearchParams): void {
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown === undefined) return
  const near = closest(unknown, PARAMETERS)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  throw new AppError(ERRORS.REQUEST_INVALID, `there is no parameter ${unknown} here${hint}`)
}

function readSeq(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text))
    throw new AppError(ERRORS.REQUEST_INVALID, 'after must be the seq of an event')
  return Number(text)
}
