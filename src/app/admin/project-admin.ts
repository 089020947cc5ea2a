import type { Scope } from '../../kernel/index.ts'
import type { KeyView, ProjectView } from '../../tenancy/index.ts'

export interface KeyWish {
  name: string
  scopes: Scope[]
  /** ISO 8601; it never ends when missing. */
  expires_at?: string
}

export interface RotationWish {
  what: 'api_key' | 'webhook_secret'
  grace_hours: number
}

interface RotatedView {
  project_id: string
  api_key?: string
  key_id?: string
  webhook_secret?: string
  old_expires_at: string | null
}

/** What an operator does with projects and keys, at a running server or in the ledger itself. */
export interface ProjectAdmin {
  createProject(name: string): Promise<ProjectView & { api_key: string; webhook_secret: string }>
  projects(): Promise<ProjectView[]>
  rotate(projectId: string, wish: RotationWish): Promise<RotatedView>
  deleteProject(projectId: string): Promise<void>
  createKey(projectId: string, wish: KeyWish): Promise<KeyView & { api_key: string }>
  keys(projectId: string): Promise<KeyView[]>
  revokeKey(projectId: string, keyId: string): Promise<void>
  close(): Promise<void>
}
