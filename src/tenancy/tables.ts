import type { Generated } from 'kysely'

declare module '../ledger/schema.ts' {
  interface Schema {
    projects: ProjectsTable
    project_keys: ProjectKeysTable
    sessions: SessionsTable
    audit: AuditTable
    project_quotas: ProjectQuotasTable
    project_usage: ProjectUsageTable
    settings: SettingsTable
    disk_reservations: DiskReservationsTable
    idempotency: IdempotencyTable
  }
}

export interface ProjectsTable {
  id: string
  name: string
  webhook_secret: string
  webhook_secret_old: string | null
  webhook_secret_old_until: number | null
  created_at: number
  deleted_at: number | null
  /** JSON: what is hidden in files, by column name. */
  masks: Generated<string | null>
}

export interface ProjectKeysTable {
  id: string
  project_id: string
  name: string
  hash: string
  /** JSON: a list of scopes. */
  scopes: string
  main: Generated<number>
  created_at: number
  expires_at: number | null
  last_used_at: Generated<number | null>
}

export interface SessionsTable {
  id: string
  hash: string
  owner: string
  mark: string | null
  key_id: string | null
  subject: string | null
  name: string | null
  /** JSON. */
  roles: string | null
  address: string | null
  created_at: number
  expires_at: number
}

/** Append-only. */
interface AuditTable {
  seq: Generated<number>
  at: number
  actor: string
  action: string
  project_id: string | null
  target: string
  address: string | null
  /** JSON. */
  detail: string | null
}

interface ProjectQuotasTable {
  project_id: string
  quota: string
  value: number
}

interface ProjectUsageTable {
  project_id: string
  day: number
  rows_read: number
  bytes_read: number
  disk_bytes: number
}

interface SettingsTable {
  key: string
  value: string
  updated_at: number
}

interface DiskReservationsTable {
  id: string
  project_id: string
  size: number
  created_at: number
}

interface IdempotencyTable {
  scope: string
  key: string
  fingerprint: string
  status: number
  headers: string
  body: string
  created_at: number
}
