export { AuditTrail } from './audit-trail.ts'
export {
  type Access,
  Authenticator,
  actorOf,
  allow,
  credentialsOf,
  grantOf,
  issuerOf,
  linkIssuerOf,
  type Principal,
  personOf,
  projectScope,
  requireOwn,
  requireProject,
  requireTask,
} from './auth.ts'
export { Cookies, SESSION_COOKIE } from './cookies.ts'
export { Idempotency } from './idempotency.ts'
export { OwnOrigin } from './own-origin.ts'
export { TrustedProxies } from './trusted-proxies.ts'
