import type { Scope } from '../../kernel/index.ts'

type Domain = 'exports' | 'transfers' | 'processing' | 'runs'
type Needed = Domain | 'read' | 'any'

/**
 * What a key needs for each route that takes project keys. A route that is missing here needs `all`: nobody gets more by
 * an omission, and a test finds it.
 */
const ROUTES: readonly [path: string, needed: Needed][] = [
  ['/api/exports', 'exports'],
  ['/api/projects/:project_id/exports', 'exports'],
  ['/api/projects/:project_id/operators', 'exports'],
  ['/api/projects/:project_id/connections', 'exports'],
  ['/api/templates', 'exports'],
  ['/api/saved-exports', 'exports'],
  ['/api/transfers', 'transfers'],
  ['/api/transfer-jobs', 'transfers'],
  ['/api/repository', 'transfers'],
  ['/api/agents', 'transfers'],
  ['/api/projects/:project_id/agents', 'transfers'],
  ['/api/uploads', 'processing'],
  ['/api/tasks', 'processing'],
  ['/api/accounts', 'runs'],
  ['/api/runs', 'runs'],
  ['/api/state', 'runs'],
  // They show the events of every domain.
  ['/api/events', 'read'],
  ['/ws', 'read'],
  ['/api/projects/:project_id/ticket', 'read'],
  ['/api/projects/:project_id/usage', 'read'],
  ['/api/session', 'any'],
]

/** A ticket allows no more than its key does, so issuing one counts as looking. */
export function onlyLooks(method: string, route: string): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method) || route.endsWith('/ticket')
}

export function mayUse(scopes: readonly Scope[], method: string, route: string): boolean {
  const needed = ROUTES.find(([path]) => route === path || route.startsWith(`${path}/`))?.[1]
  const looks = onlyLooks(method, route)
  if (needed === 'any') return true
  // Accounts are the installation's, not the project's.
  if (needed !== 'runs') {
    if (scopes.includes('all')) return true
    if (needed !== undefined && looks && scopes.includes('read')) return true
  }
  if (needed === undefined || needed === 'read') return false
  const enough: string[] = [needed, `${needed}:*`, `${needed}:${looks ? 'read' : 'write'}`]
  return scopes.some((scope) => enough.includes(scope))
}
