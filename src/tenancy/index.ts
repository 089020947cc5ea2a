export { AuditEntry, AuditLog, type Deed } from './audit-log.ts'
export { DiskReservations } from './disk-reservations.ts'
export { openInstallation, openSealer, opensSecrets, sharedSecret } from './installation.ts'
export type { Grant } from './project-keys.ts'
export { type Project, ProjectStore } from './project-store.ts'
export {
  KeyView,
  keyView,
  NewKey,
  NewKeyView,
  NewProjectView,
  newProjectView,
  ProjectView,
  projectView,
  Rotated,
  Rotation,
  rotatedView,
  Scopes,
  ShownName,
} from './project-views.ts'
export { QUOTAS, type Quota, Quotas, QuotaUsage, type QuotaValues } from './quotas.ts'
export { maskUrl, openUrl, sealUrl } from './sealed-url.ts'
export { Sealer } from './sealer.ts'
export { hashSecret, matchesHash, newSecret } from './secrets.ts'
export { ListedSession, listedSession, ProjectRole } from './session-view.ts'
export { type Person, type Roles, type Session, type SessionOwner, Sessions } from './sessions.ts'
export { SettingsStore } from './settings-store.ts'
export type { Tenancy } from './tenancy.ts'
export { type LinkIssuer, type Ticket, Tickets } from './tickets.ts'
