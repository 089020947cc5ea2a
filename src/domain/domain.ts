import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { JobKind, WatchedDomain } from '../jobs/index.ts'
import type { AppError, Duty } from '../kernel/index.ts'
import type { ArtifactOwner } from '../storage/index.ts'
import type { TaskViews } from './task-views.ts'

export interface ScheduledDuty {
  duty: Duty
  everyMs: number
  /** `leader`: on the elected instance alone. `local`: on every instance. */
  runs: 'leader' | 'local'
}

/** Takes over the connection of a WebSocket, or refuses it. */
export type Upgrade = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  refuse: (error: AppError) => void,
) => void

/**
 * A kind of work. `open<Domain>(ground, options)` makes one and starts nothing: the composition registers its kinds and
 * duties, mounts its routes (`src/http/routes`), and calls start, serve, drain, disconnect and stop in that order.
 */
export interface Domain<Api = unknown> {
  readonly name: string
  /** What routes, commands and other compositions call. */
  readonly api: Api
  /** The jobs that the engine runs for it. */
  readonly kinds: readonly JobKind[]
  readonly duties: readonly ScheduledDuty[]
  /** How its tasks look to watchers, callbacks and notices. */
  readonly views: TaskViews
  /** How the overview and the metrics count its work; without it they do not. */
  readonly overview?: WatchedDomain
  /** Its files in the store. */
  readonly artifacts?: ArtifactOwner
  /** WebSockets of its own, by path; each decides whom it lets in. */
  readonly sockets?: Readonly<Record<string, Upgrade>>
  /** Before the engine runs its jobs. */
  start?(): Promise<void> | void
  /** Opens what it listens on besides HTTP. The engine runs by then. */
  serve?(): Promise<void> | void
  /** Takes no new work and lets what is under way finish, until `until` aborts. */
  drain?(until: AbortSignal): Promise<void>
  /** Sends away clients that stay connected. */
  disconnect?(until: AbortSignal): Promise<void>
  /** After the engine has stopped. */
  stop(): Promise<void> | void
}
