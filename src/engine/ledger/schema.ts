import type { Generated } from 'kysely'

/** Times are milliseconds of the ledger's clock, flags are 0 or 1, JSON is text: the same in both dialects. */
export interface Schema {
  projects: ProjectsTable
  jobs: JobsTable
  tasks: TasksTable
  events: EventsTable
  lanes: LanesTable
  settings: SettingsTable
  instances: InstancesTable
  leaders: LeadersTable
  idempotency: IdempotencyTable
  export_files: ExportFilesTable
  export_downloads: ExportDownloadsTable
  deliveries: DeliveriesTable
  swarm_tasks: SwarmTasksTable
  swarm_targets: SwarmTargetsTable
  swarm_agents: SwarmAgentsTable
}

export interface ProjectsTable {
  id: string
  name: string
  api_key_hash: string
  api_key_old_hash: string | null
  api_key_old_until: number | null
  webhook_secret: string
  webhook_secret_old: string | null
  webhook_secret_old_until: number | null
  created_at: number
  deleted_at: number | null
}

export type JobState = 'waiting' | 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled'

export interface JobsTable {
  id: string
  kind: string
  lane: string | null
  owner: string | null
  share_key: string | null
  state: JobState
  payload: string
  progress: string | null
  result: string | null
  error_code: string | null
  error_message: string | null
  attempts: Generated<number>
  crashes: Generated<number>
  fence: Generated<number>
  worker: string | null
  lease_until: number | null
  due_at: number
  wake_at: number | null
  wakes: Generated<number>
  live_tasks: Generated<number>
  cancel_requested: Generated<number>
  created_at: number
  started_at: number | null
  finished_at: number | null
  delete_after: number | null
}

export interface TasksTable {
  id: string
  job_id: string
  kind: string
  project_id: string | null
  label: string | null
  details: string
  created_at: number
  cancelled_at: number | null
  callback: string | null
}

export interface EventsTable {
  /** Grows without a gap, in the order in which readers may see events. */
  seq: Generated<number>
  type: string
  kind: string
  project_id: string | null
  task_id: string | null
  job_id: string | null
  data: string
  at: number
}

export interface LanesTable {
  name: string
  /** null: no limit. */
  max_running: number | null
  policy: 'fifo' | 'fair'
}

export interface SettingsTable {
  key: string
  value: string
  updated_at: number
}

export interface InstancesTable {
  id: string
  host: string
  pid: number
  version: string
  started_at: number
  seen_at: number
}

export interface LeadersTable {
  name: string
  holder: string
  lease_until: number
}

export interface IdempotencyTable {
  scope: string
  key: string
  fingerprint: string
  status: number
  headers: string
  body: string
  created_at: number
}

export interface ExportFilesTable {
  job_id: string
  artifact_key: string
  expires_at: number
  removed_at: number | null
}

export interface ExportDownloadsTable {
  id: string
  task_id: string
  at: number
  who: string
  address: string
  bytes: number
  complete: number
}

export interface DeliveriesTable {
  id: string
  task_id: string
  event_type: string
  url: string
  attempt: number
  at: number
  status: number | null
  error: string | null
  delivered: number
}

export interface SwarmTasksTable {
  id: string
  local_path: string
  file_name: string
  manifest: string
  manifest_signature: string
  created_at: number
  deadline: number
}

export interface SwarmTargetsTable {
  task_id: string
  target_key: string
  agent_id: string
  container_id: string
  /** JSON: one user and directory each. */
  places: string
  error_code: number
  error_message: string
}

export interface SwarmAgentsTable {
  agent_id: string
  container_id: string
  instance: string
  host: string
  port: number
  version: string
  connected_at: number
  seen_at: number
}
