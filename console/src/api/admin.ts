import type {
  AuditEntry,
  Connection,
  DeliveryPage,
  Enrollment,
  Key,
  KnownAgent,
  ListedSession,
  NewKey,
  NewProject,
  ProjectChanges,
  ProjectDetails,
  Rotated,
} from '../../../src/http/wire.ts'
import { ask } from './client.ts'

export type { AuditEntry, Connection, Key, KnownAgent, ListedSession, NewKey, ProjectChanges, ProjectDetails }
export type LoggedDelivery = DeliveryPage['items'][number]
export type Scope = Key['scopes'][number]

const items = async <T>(path: string, signal: AbortSignal): Promise<T[]> =>
  (await ask<{ items: T[] }>(path, { signal })).items

const projectPath = (id: string) => `/api/projects/${encodeURIComponent(id)}`

export const createProject = (name: string, attempt: string): Promise<NewProject> =>
  ask('/api/projects', { method: 'POST', body: { name }, attempt })
export const getProject = (id: string, signal: AbortSignal): Promise<ProjectDetails> =>
  ask(projectPath(id), { signal })
export const changeProject = (id: string, changes: ProjectChanges): Promise<ProjectDetails> =>
  ask(projectPath(id), { method: 'PUT', body: changes })
export const deleteProject = (id: string): Promise<null> => ask(projectPath(id), { method: 'DELETE' })
export const rotateSecret = (
  id: string,
  body: { what: 'api_key' | 'webhook_secret'; grace_hours: number },
  attempt: string,
): Promise<Rotated> => ask(`${projectPath(id)}/rotate`, { method: 'POST', body, attempt })

export const listKeys = (id: string, signal: AbortSignal) => items<Key>(`${projectPath(id)}/keys`, signal)
export const createKey = (id: string, key: NewKey, attempt: string): Promise<Key & { api_key: string }> =>
  ask(`${projectPath(id)}/keys`, { method: 'POST', body: key, attempt })
export const endKey = (id: string, keyId: string): Promise<null> =>
  ask(`${projectPath(id)}/keys/${encodeURIComponent(keyId)}`, { method: 'DELETE' })

export const listSessions = (signal: AbortSignal) => items<ListedSession>('/api/sessions', signal)
export const endSession = (id: string): Promise<null> =>
  ask(`/api/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' })

const connectionPath = (name: string) => `/api/connections/${encodeURIComponent(name)}`

export const listConnections = (signal: AbortSignal) => items<Connection>('/api/connections', signal)
export const putConnection = (
  name: string,
  body: { driver: Connection['driver']; url: string; projects: string[] },
): Promise<Connection> => ask(connectionPath(name), { method: 'PUT', body })
export const deleteConnection = (name: string): Promise<null> =>
  ask(connectionPath(name), { method: 'DELETE' })
export const testConnection = (name: string): Promise<{ ok: true }> =>
  ask(`${connectionPath(name)}/test`, { method: 'POST' })

export const listAllAgents = (signal: AbortSignal): Promise<KnownAgent[]> => ask('/api/agents', { signal })
export const inviteAgent = (
  body: { agent_id: string; container_id: string },
  attempt: string,
): Promise<Enrollment> => ask('/api/agents/enrollments', { method: 'POST', body, attempt })
export const revokeAgent = ({ agent_id, container_id }: KnownAgent): Promise<null> =>
  ask(`/api/agents/${encodeURIComponent(agent_id)}/${encodeURIComponent(container_id)}`, { method: 'DELETE' })

export interface AuditPage {
  items: AuditEntry[]
  next_before: number | null
}

/** Newest first. */
export function listAudit(
  filter: { actor?: string | undefined; action?: string | undefined },
  before: number | null,
  signal: AbortSignal,
): Promise<AuditPage> {
  const query = new URLSearchParams({ limit: '100', before: String(before ?? Number.MAX_SAFE_INTEGER) })
  for (const [name, value] of Object.entries(filter)) if (value) query.set(name, value)
  return ask(`/api/audit?${query}`, { signal })
}

export function listDeliveries(
  failed: boolean,
  cursor: string | null,
  signal: AbortSignal,
): Promise<DeliveryPage> {
  const query = new URLSearchParams({ limit: '50' })
  if (failed) query.set('failed', 'true')
  if (cursor) query.set('cursor', cursor)
  return ask(`/api/deliveries?${query}`, { signal })
}

export const getCallback = (taskId: string, signal: AbortSignal): Promise<unknown> =>
  ask(`/api/exports/${encodeURIComponent(taskId)}/callback`, { signal })
export const resendCallback = (taskId: string, attempt: string): Promise<unknown> =>
  ask(`/api/exports/${encodeURIComponent(taskId)}/deliveries/resend`, { method: 'POST', attempt })
