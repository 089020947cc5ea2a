import type { ProjectKey } from './project-keys.ts'
import type { Project } from './project-store.ts'

/** How a project looks to the admin, over HTTP and in commands. */
export interface ProjectView {
  project_id: string
  name: string
  created_at: string
}

export interface KeyView {
  key_id: string
  name: string
  scopes: ProjectKey['scopes'][number][]
  created_at: string
  expires_at: string | null
  last_used_at: string | null
}

export function projectView({ id, name, createdAt }: Project): ProjectView {
  return { project_id: id, name, created_at: time(createdAt) }
}

export function keyView(key: ProjectKey): KeyView {
  return {
    key_id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    created_at: time(key.createdAt),
    expires_at: key.expiresAt === null ? null : time(key.expiresAt),
    last_used_at: key.lastUsedAt === null ? null : time(key.lastUsedAt),
  }
}

function time(at: number): string {
  return new Date(at).toISOString()
}
