import type { Scope } from '../engine/index.ts'

type Needed = Scope | 'any'

/**
 * What a key needs for each route that takes project keys. A route that is missing here needs `all`: nobody gets more by
 * an omission, and a test finds it.
 */
const ROUTES: readonly [path: string, needed: Needed][] = [
  ['/api/exports', 'exports'],
  ['/api/projects/:project_id/exports', 'exports'],
  ['/api/templates', 'exports'],
  ['/api/transfers', 'transfers'],
  ['/api/transfer-jobs', 'transfers'],
  ['/api/repository', 'transfers'],
  ['/api/agents', 'transfers'],
  ['/api/projects/:project_id/agents', 'transfers'],
  ['/api/uploads', 'processing'],
  ['/api/tasks', 'processing'],
  // They show the events of every domain.
  ['/api/events', 'read'],
  ['/ws', 'read'],
  ['/api/projects/:project_id/ticket', 'read'],
  ['/api/projects/:project_id/usage', 'read'],
  ['/api/session', 'any'],
]

/** `read` is enough for whatever changes nothing; a ticket allows no more than its key does. */
export function mayUse(scopes: readonly Scope[], method: string, route: string): boolean {
  if (scopes.includes('all')) return true
  const needed = ROUTES.find(([path]) => route === path || route.startsWith(`${path}/`))?.[1]
  if (needed === undefined) return false
  const looks = ['GET', 'HEAD', 'OPTIONS'].includes(method) || route.endsWith('/ticket')
  return needed === 'any' || scopes.includes(needed) || (looks && scopes.includes('read'))
}
