import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import {
  type ConnectionInjector,
  logVerbosity,
  type Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  status as Status,
  setLogVerbosity,
} from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { HealthImplementation } from 'grpc-health-check'
import {
  AppError,
  type Clock,
  DutyLoop,
  ERRORS,
  endsBefore,
  type Log,
  messageOf,
  type Part,
} from '../../kernel/index.ts'
import { hashSecret, matchesHash } from '../../tenancy/index.ts'
import type { TaskService } from '../task-service.ts'
import { OpenCalls } from './open-calls.ts'
import { taskHandlers } from './task-handlers.ts'
import { loadTaskProto } from './task-proto.ts'

export interface GrpcServerOptions {
  host: string
  port: number
  /** The port is a default: if it is taken, any other is used. */
  mayMove?: boolean
  token: string | null
  /** Files in PEM form; with `ca`, clients must show a certificate of that authority. */
  tls: { cert: string; key: string; ca: string | null } | null
  /** How often a client is asked whether it is still there. One that does not answer within this time is cut. */
  pingMs?: number
}

const SERVICE = 'task.v1.TaskService'
const HEALTH_EVERY_MS = 5_000
/** Load balancers ask for health without a token. */
const HEALTH_PATH = '/grpc.health.v1.Health/'
const PING_MS = 30_000
/** How long the connections may take to close once no call is under way. */
const CLOSE_MS = 300

/** `task.v1.TaskService` with health and reflection. */
export class GrpcServer implements Part {
  readonly name = 'grpc'
  readonly #options: GrpcServerOptions
  readonly #server: Server
  readonly #health: HealthImplementation
  readonly #calls = new OpenCalls()
  readonly #healthLoop: DutyLoop
  /** The library has no hand on them: it waits for a client that does not read for as long as that stays. */
  readonly #sockets = new Set<Socket>()
  readonly #listener = createServer()
  #port = 0

  constructor(
    deps: { service: TaskService; healthy: () => Promise<boolean>; clock: Clock; log: Log },
    options: GrpcServerOptions,
  ) {
    this.#options = options
    // What matters is thrown or answered; its own lines on stderr would only stand beside ours.
    setLogVerbosity(logVerbosity.NONE)
    const { token, pingMs = PING_MS } = options
    this.#server = new Server({
      'grpc.keepalive_time_ms': pingMs,
      'grpc.keepalive_timeout_ms': pingMs,
      ...(token !== null && { interceptors: [bearerToken(token)] }),
    })
    const { definition, TaskService } = loadTaskProto()
    this.#server.addService(TaskService.service, taskHandlers({ ...deps, calls: this.#calls }))
    this.#health = new HealthImplementation({ '': 'SERVING', [SERVICE]: 'SERVING' })
    this.#health.addToServer(this.#server)
    new ReflectionService(definition).addToServer(this.#server)
    const check = {
      name: 'grpc-health',
      runOnce: async () => this.#tell((await deps.healthy()) ? 'SERVING' : 'NOT_SERVING'),
    }
    this.#healthLoop = new DutyLoop(check, deps, { everyMs: HEALTH_EVERY_MS })
  }

  /** Where it listens, once started. */
  get address(): string {
    const { host } = this.#options
    return `${host.includes(':') ? `[${host}]` : host}:${this.#port}`
  }

  async start(): Promise<void> {
    const { host, port, mayMove } = this.#options
    const connections = this.#server.createConnectionInjector(this.#credentials())
    this.#listener.on('connection', (socket) => this.#admit(socket, connections))
    this.#port = await this.#bind(port).catch((cause) => {
      if (mayMove) return this.#bind(0)
      throw new AppError(
        ERRORS.CONFIG_INVALID,
        `cannot listen on ${host}:${port} for gRPC (${reasonOf(cause)}); set TASK_GRPC_HOST or TASK_GRPC_PORT to something else`,
        { cause },
      )
    })
    this.#healthLoop.start()
  }

  #bind(port: number): Promise<number> {
    const listener = this.#listener
    return new Promise((resolve, reject) => {
      listener.once('error', reject)
      listener.listen(port, this.#options.host, () => {
        listener.off('error', reject)
        resolve((listener.address() as AddressInfo).port)
      })
    })
  }

  #admit(socket: Socket, connections: ConnectionInjector): void {
    socket.on('error', () => undefined)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    connections.injectConnection(socket)
  }

  /** Reports to health checks that this server is about to stop; calls are still answered. */
  async drain(): Promise<void> {
    this.#tell('NOT_SERVING')
    await this.#healthLoop.stop()
    // A check that was under way may have set it to serving.
    this.#tell('NOT_SERVING')
  }

  /** Calls under way may end until `until` aborts. A watch of the health never ends, so nobody waits for it. */
  async disconnect(until: AbortSignal): Promise<void> {
    this.#listener.close()
    const closed = new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()))
    await endsBefore(until, this.#calls.idle())
    const forced = setTimeout(() => {
      this.#server.forceShutdown()
      for (const socket of this.#sockets) socket.destroy()
    }, CLOSE_MS)
    await closed
    clearTimeout(forced)
  }

  #tell(status: 'SERVING' | 'NOT_SERVING'): void {
    for (const service of ['', SERVICE]) this.#health.setStatus(service, status)
  }

  #credentials(): ServerCredentials {
    const { tls } = this.#options
    if (!tls) return ServerCredentials.createInsecure()
    try {
      const pair = { private_key: readFileSync(tls.key), cert_chain: readFileSync(tls.cert) }
      const ca = tls.ca === null ? null : readFileSync(tls.ca)
      return ServerCredentials.createSsl(ca, [pair], ca !== null)
    } catch (cause) {
      throw new AppError(ERRORS.CONFIG_INVALID, `TASK_GRPC_TLS_*: ${messageOf(cause)}`, { cause })
    }
  }
}

/** The library wraps what the operating system says in words of its own. */
function reasonOf(cause: unknown): string {
  const message = messageOf(cause)
  return /\bE[A-Z]{3,}\b/.exec(message)?.[0] ?? message
}

/** Lets only calls through that carry `authorization: Bearer TOKEN`. */
function bearerToken(token: string): ServerInterceptor {
  const hash = hashSecret(token)
  return (method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, go) => {
            if (method.path.startsWith(HEALTH_PATH) || hasToken(metadata, hash)) return go(metadata)
            call.sendStatus({
              code: Status.UNAUTHENTICATED,
              details: "this needs the metadata 'authorization: Bearer TOKEN'",
            })
          },
        }),
    })
}

function hasToken(metadata: Metadata, hash: string): boolean {
  const [header] = metadata.get('authorization')
  const given = /^Bearer +(\S+)$/i.exec(String(header ?? ''))?.[1]
  return given !== undefined && matchesHash(given, hash)
}
