import type { FastifyPluginAsync } from 'fastify'
import type { TaskViews, Upgrade } from '../domain/index.ts'
import type { Bus, Engine, Overview, WatchedDomain } from '../jobs/index.ts'
import type { Log } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { Callbacks } from '../notify/index.ts'
import type {
  AuditLog,
  ProjectStore,
  Quotas,
  Sealer,
  Sessions,
  SettingsStore,
  Tickets,
} from '../tenancy/index.ts'
import type { AfterAnswer } from './after-answer.ts'
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
import type { HealthAnswer } from './routes/installation/overview-answers.ts'
import type { IdentityProvider } from './sign-in/identity-provider.ts'
import type { SignInDesk } from './sign-in/sign-in-desk.ts'
import type { Watchers } from './watch/watchers.ts'

/** Looks at ledger, Redis, store, disks and back-up. */
interface Examination {
  latest(): Promise<HealthAnswer>
}

/** What the server is given. */
export interface HttpServerDeps {
  ledger: Ledger
  settings: SettingsStore
  engine: Engine
  projects: ProjectStore
  sessions: Sessions
  quotas: Quotas
  diskRoom: DiskRoom
  examination: Examination
  sealer: Sealer
  tickets: Tickets
  bus: Bus
  callbacks: Callbacks
  /** How tasks look to watchers. */
  views: TaskViews
  adminTokenHash: string
  /** Who names people; null: sign-in is by key alone. */
  provider: IdentityProvider | null
  audit: AuditLog
  log: Log
  /** Work that the overview and the metrics count, by domain. */
  watched: Readonly<Record<string, WatchedDomain>>
  /** The domains' routes. */
  routes: readonly ((deps: HttpDeps) => FastifyPluginAsync[])[]
  /** The domains' own WebSockets, by path; each decides whom it lets in. */
  sockets: Readonly<Record<string, Upgrade>>
}

/** What routes are made from. */
export interface HttpDeps extends HttpServerDeps {
  idempotency: Idempotency
  after: AfterAnswer
  trail: AuditTrail
  metrics: Metrics
  overview: Overview<string>
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
