import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Exports, SavedExports, SqlConnections, TemplateStore } from '../exports/index.ts'
import type { Bus, Engine, Overview } from '../jobs/index.ts'
import type { AppError, Log } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { Callbacks, TaskViews } from '../notify/index.ts'
import type { Processing } from '../processing/index.ts'
import type { Runs } from '../runs/index.ts'
import type {
  AuditLog,
  ProjectStore,
  Quotas,
  Sealer,
  Sessions,
  SettingsStore,
  Tickets,
} from '../tenancy/index.ts'
import type { Transfers } from '../transfers/index.ts'
import type {
  AuditTrail,
  Authenticator,
  Cookies,
  Idempotency,
  OwnOrigin,
  TrustedProxies,
} from './auth/index.ts'
import type { DiskRoom } from './limits/index.ts'
import type { Metrics } from './metrics/index.ts'
import type { IdentityProvider } from './sign-in/identity-provider.ts'
import type { SignInDesk } from './sign-in/sign-in-desk.ts'
import type { Watchers } from './watch/watchers.ts'

/** What the server is given. */
export interface HttpServerDeps {
  ledger: Ledger
  settings: SettingsStore
  engine: Engine
  projects: ProjectStore
  sessions: Sessions
  quotas: Quotas
  diskRoom: DiskRoom
  sealer: Sealer
  tickets: Tickets
  bus: Bus
  callbacks: Callbacks
  exports: Exports
  connections: SqlConnections
  templates: TemplateStore
  saved: SavedExports
  transfers: Transfers
  /** The present state of a task, by its kind. */
  views: TaskViews
  adminTokenHash: string
  /** Who names people; null: sign-in is by key alone. */
  provider: IdentityProvider | null
  audit: AuditLog
  log: Log
  runs: Runs
  processing: Processing
  overview: Overview<'exports' | 'transfers' | 'runs' | 'processing'>
  /** WebSockets of the domains' own, by path; each decides itself whom it lets in. */
  sockets?: Record<
    string,
    (request: IncomingMessage, socket: Duplex, head: Buffer, refuse: (error: AppError) => void) => void
  >
}

/** What routes are made from. */
export interface HttpDeps extends HttpServerDeps {
  idempotency: Idempotency
  trail: AuditTrail
  metrics: Metrics
  watchers: Watchers
  proxies: TrustedProxies
  authenticator: Authenticator
  cookies: Cookies
  own: OwnOrigin
  desk: SignInDesk
  /** Aborts when the server stops: streams that would never end do then. */
  stopping: AbortSignal
  /** True from the first moment of a stop on. */
  isDraining(): boolean
}
