import type { Generated } from 'kysely'
import type { WaitsOn } from '../kernel/index.ts'

/** Times are milliseconds of the ledger's clock, flags are 0 or 1, JSON is text: the same in both dialects. */
export interface Schema {
  projects: ProjectsTable
  project_keys: ProjectKeysTable
  sessions: SessionsTable
  audit: AuditTable
  jobs: JobsTable
  tasks: TasksTable
  events: EventsTable
  lanes: LanesTable
  lane_turns: LaneTurnsTable
  lane_shares: LaneSharesTable
  project_quotas: ProjectQuotasTable
  project_usage: ProjectUsageTable
  settings: SettingsTable
  instances: InstancesTable
  leaders: LeadersTable
  idempotency: IdempotencyTable
  ended_work: EndedWorkTable
  export_files: ExportFilesTable
  export_reports: ExportReportsTable
  export_downloads: ExportDownloadsTable
  export_link_uses: ExportLinkUsesTable
  export_rows: ExportRowsTable
  deliveries: DeliveriesTable
  accounts: AccountsTable
  connections: ConnectionsTable
  templates: TemplatesTable
  template_versions: TemplateVersionsTable
  saved_exports: SavedExportsTable
  saved_export_runs: SavedExportRunsTable
  runs: RunsTable
  account_files: AccountFilesTable
  processing_tasks: ProcessingTasksTable
  processing_uploads: ProcessingUploadsTable
  disk_reservations: DiskReservationsTable
  transfer_businesses: TransferBusinessesTable
  transfer_agents: TransferAgentsTable
  repository_files: RepositoryFilesTable
  transfer_windows: TransferWindowsTable
  transfer_targets: TransferTargetsTable
  transfer_tasks: TransferTasksTable
  swarm_tasks: SwarmTasksTable
  swarm_targets: SwarmTargetsTable
  swarm_agents: SwarmAgentsTable
  swarm_identities: SwarmIdentitiesTable
  swarm_enrollments: SwarmEnrollmentsTable
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
  /** Times in a row that the job was put back because a part of the installation was away. */
  outages: Generated<number>
  /** What a job that is to be tried again waits for; null when nothing is away. */
  outage: WaitsOn | null
  outage_since: number | null
  fence: Generated<number>
  worker: string | null
  lease_until: number | null
  due_at: number
  wake_at: number | null
  wakes: Generated<number>
  /** Of a job that waits in its lane: not to be admitted before. */
  paused_until: Generated<number | null>
  live_tasks: Generated<number>
  /** 0: as usual. 1: others of its lane go first, for a while. */
  priority: Generated<number>
  cancel_requested: Generated<number>
  created_at: number
  started_at: number | null
  finished_at: number | null
  delete_after: number | null
  /** Where in a caller's trace it was made, as `traceparent`. */
  trace: Generated<string | null>
  event_type: string | null
  event_data: string | null
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
  event_type: string | null
  event_data: string | null
}

interface EventsTable {
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

interface LanesTable {
  name: string
  /** null: no limit. */
  max_running: number | null
  policy: 'fifo' | 'fair'
  /** Places beyond `max_running` that only an owner without any may take. */
  reserve: Generated<number>
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

interface LaneSharesTable {
  lane: string
  owner: string
  max_running: number
}

interface LaneTurnsTable {
  lane: string
  owner: string
  turn: number
}

interface SettingsTable {
  key: string
  value: string
  updated_at: number
}

interface InstancesTable {
  id: string
  host: string
  pid: number
  version: string
  started_at: number
  seen_at: number
  home: string | null
  store: string | null
  marker: string | null
}

interface LeadersTable {
  name: string
  holder: string
  lease_until: number
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

interface EndedWorkTable {
  kind: string
  at: number
  failed: number
  duration_ms: number
}

interface ExportReportsTable {
  job_id: string
  report: string
}

interface ExportFilesTable {
  job_id: string
  artifact_key: string
  expires_at: number
  removed_at: number | null
  /** Whose disk quota it counts towards; null: made before there was one. */
  project_id: string | null
  size: Generated<number>
}

/** Rows that are kept beyond their file. */
interface ExportRowsTable {
  job_id: string
  project_id: string
  tables: string
  size: number
  expires_at: number
  removed_at: number | null
}

/** Only of tasks whose links are limited. */
interface ExportLinkUsesTable {
  task_id: string
  uses: number
}

interface ExportDownloadsTable {
  id: string
  task_id: string
  at: number
  who: string
  address: string
  bytes: number
  complete: number
}

interface DeliveriesTable {
  id: string
  task_id: string
  event_type: string
  url: string
  attempt: number
  at: number
  status: number | null
  error: string | null
  /** 0: no. 1: yes. 2: no, and it will not be tried again. */
  delivered: number
  /** `callback`, `email` or the kind of a chat. */
  channel: Generated<string>
}

/** Databases that exports may read. */
interface TemplatesTable {
  project_id: string
  name: string
  /** The newest. */
  version: number
  created_at: number
  updated_at: number
  deleted_at: number | null
}

interface TemplateVersionsTable {
  project_id: string
  name: string
  version: number
  /** JSON. */
  template: string
  created_at: number
}

interface SavedExportsTable {
  id: string
  project_id: string
  name: string
  /** JSON, sealed as a whole. */
  request: string
  /** JSON: what is filled in by default. */
  parameters: string
  cron: string | null
  timezone: string | null
  /** The next time by its schedule; in the past while that run waits. */
  due_at: number | null
  /** When to look at it. */
  wake_at: number | null
  last_run_id: Generated<string | null>
  /** Why the run that is due has not begun. */
  trouble_code: string | null
  trouble_message: string | null
  trouble_since: number | null
  created_at: number
  updated_at: number
}

interface SavedExportRunsTable {
  id: string
  saved_id: string
  /** Null for one that somebody asked for. */
  due_at: number | null
  /** Null if no export came of it. */
  task_id: string | null
  /** JSON. */
  parameters: string
  error_code: string | null
  error_message: string | null
  created_at: number
}

interface ConnectionsTable {
  name: string
  driver: string
  /** Sealed as a whole. */
  url: string
  /** JSON: ids of the projects that may use it. */
  projects: string
  updated_at: number
}

interface AccountsTable {
  handle: string
  url: string
  params: string
  run_id: string | null
  cursor: string | null
  last_run: string | null
  updated_at: number
}

interface RunsTable {
  id: string
  job_id: string
  handle: string
  checkpoint: string | null
  cleanup: 'keep' | 'delete' | null
}

interface AccountFilesTable {
  handle: string
  item_id: string
  name: string
  name_key: string
  run_id: string | null
  page: number
  done: number
  size: number | null
  validator: string | null
}

interface ProcessingUploadsTable {
  id: string
  project_id: string
  size: number
  created_at: number
}

interface DiskReservationsTable {
  id: string
  project_id: string
  size: number
  created_at: number
}

interface ProcessingTasksTable {
  id: string
  project_id: string | null
  file_name: string
  size: number
  original_file_path: string
  /** REVOKED: its creation failed half-way, and what Redis may have of it is still to be taken back. */
  status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'REVOKED'
  result_path: Generated<string>
  /** 0 unless COMPLETED. */
  result_size: Generated<number>
  error_message: Generated<string>
  progress: string | null
  fence: Generated<number>
  returns: Generated<number>
  queued_at: number
  created_at: number
  updated_at: number
  seen: Generated<string>
  seen_at: number
  slot: Generated<string>
  trace: Generated<string | null>
  expires_at: number
}

interface TransferBusinessesTable {
  biz_id: number
  project_id: string
  created_at: number
}

interface TransferAgentsTable {
  project_id: string
  /** JSON: agent ids, or beginnings of them with a star behind. */
  patterns: string
}

interface RepositoryFilesTable {
  project_id: string
  path_hash: string
  signature: string
  path: string
  size: number
  artifact_key: string
  put_at: number
  superseded_at: number | null
}

export type TransferStatus = 'Pending' | 'Running' | 'Success' | 'Failed' | 'Timeout'

interface TransferWindowsTable {
  /** SHA-256 of the public id. */
  id: string
  public_id: string
  /** The engine's job that closes and runs the window. */
  job_id: string | null
  project_id: string
  biz_id: number
  app_id: number
  full_path: string
  file_name: string
  signature: string
  /** null: the file is looked up in the repository. */
  artifact_key: string | null
  bucket: number
  ends_at: number
  status: TransferStatus
  version: Generated<number>
  engine_task_id: string | null
  created_at: number
  executed_at: number | null
  deadline_at: number | null
  finished_at: number | null
  targets: Generated<number>
  succeeded: Generated<number>
  failed: Generated<number>
  timed_out: Generated<number>
  file_size: number | null
  egress: number | null
}

interface TransferTargetsTable {
  id: string
  window_id: string
  agent_id: string
  container_id: string
  owner: string
  directory: string
  status: TransferStatus
  error_code: Generated<number>
  error_message: Generated<string>
  progress: Generated<number>
}

interface TransferTasksTable {
  /** The UUID at the end of the public id. */
  id: string
  target_id: string
  created_at: number
}

interface SwarmTasksTable {
  id: string
  local_path: string
  file_name: string
  manifest: string
  project_id: Generated<string>
  created_at: number
  deadline: number
  egress: Generated<number>
}

interface SwarmTargetsTable {
  task_id: string
  agent_id: string
  container_id: string
  /** JSON: one user and directory each. */
  places: string
  error_code: number
  error_message: string
}

interface SwarmIdentitiesTable {
  key_id: string
  agent_id: string
  container_id: string
  /** SPKI, PEM. */
  public_key: string
  enrolled_at: number
  revoked_at: number | null
  /** Null until its first line. */
  last_seen_at: Generated<number | null>
  last_version: Generated<string | null>
}

interface SwarmEnrollmentsTable {
  token_hash: string
  agent_id: string
  container_id: string
  expires_at: number
  /** The key that it was used for. */
  used_by: string | null
}

interface SwarmAgentsTable {
  agent_id: string
  container_id: string
  instance: string
  host: string
  port: number
  version: string
  connected_at: number
  seen_at: number
}
