export type { Consumer, Dispatcher, Wake } from './dispatch/dispatcher.ts'
export { Engine, type EngineDeps, type EngineOptions } from './engine.ts'
export { RESYNC } from './events/event-feed.ts'
export type { Event, EventFilter } from './events/event-log.ts'
export { Gather } from './gather.ts'
export { newId } from './id.ts'
export { inspectPostgres } from './inspect/inspect-postgres.ts'
export { inspectRedis, type RedisFacts } from './inspect/inspect-redis.ts'
export { inspectSqlite } from './inspect/inspect-sqlite.ts'
export type { LedgerFacts, LivingInstance } from './inspect/ledger-facts.ts'
export {
  type Installation,
  keepSecret,
  openInstallation,
  openSealer,
  readSecret,
  sharedSecret,
} from './installation.ts'
export { activeIn, isActive, type Job } from './job.ts'
export { jobMeter } from './job-meter.ts'
export type { Enqueued, NewJob, NewTask, Task } from './job-store.ts'
export {
  type Change,
  Completed,
  type Described,
  type Ended,
  type JobContext,
  type JobKind,
  type Lane,
} from './kind.ts'
export { jsonRows } from './ledger/json-rows.ts'
export { type Ledger, now, type Tx } from './ledger/ledger.ts'
export type { JobState, Schema, TransferStatus } from './ledger/schema.ts'
export { CONNECTIONS_PER_INSTANCE } from './ledger/session-settings.ts'
export { type ListCursor, readCursor, writeCursor } from './list-cursor.ts'
export { type Backend, type BackendOptions, openBackend } from './open-backend.ts'
export { openRedis } from './open-redis.ts'
export { type OpenWork, readLaneLimits, readOpenWork } from './open-work.ts'
export {
  type Depth,
  type DomainOverview,
  OVERVIEW_MINUTES,
  Overview,
  type OverviewView,
  type WatchedDomain,
} from './overview.ts'
export { type AuditEntry, AuditLog, type Deed } from './projects/audit-log.ts'
export { DiskReservations } from './projects/disk-reservations.ts'
export type { Grant, ProjectKey } from './projects/project-keys.ts'
export { type Project, ProjectStore } from './projects/project-store.ts'
export { type KeyView, keyView, type ProjectView, projectView } from './projects/project-views.ts'
export { NO_QUOTAS, QUOTAS, type Quota, Quotas, type QuotaValues } from './projects/quotas.ts'
export { hashSecret, matchesHash, newSecret } from './projects/secrets.ts'
export {
  type Person,
  type Roles,
  type Session,
  type SessionOwner,
  Sessions,
} from './projects/sessions.ts'
export { measureRedis } from './redis-meter.ts'
export { reportOutages } from './redis-outages.ts'
export { maskUrl, openUrl, sealUrl } from './sealed-url.ts'
export { Sealer } from './sealer.ts'
export { SettingsStore } from './settings-store.ts'
export type { Signal, Topic, Topics } from './signal/signal.ts'
export { type LinkIssuer, type Ticket, Tickets } from './tickets.ts'
export { WAITING_COLUMNS, type WaitingFor, waitingFor } from './waiting-for.ts'
