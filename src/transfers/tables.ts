import type { Generated } from 'kysely'
import type { Static } from 'typebox'
import type { TransferState } from './views/transfer-schemas.ts'

declare module '../ledger/schema.ts' {
  interface Schema {
    transfer_businesses: TransferBusinessesTable
    transfer_agents: TransferAgentsTable
    repository_files: RepositoryFilesTable
    transfer_windows: TransferWindowsTable
    transfer_targets: TransferTargetsTable
    transfer_tasks: TransferTasksTable
  }
}

export type TransferStatus = Static<typeof TransferState>

interface TransferBusinessesTable {
  biz_id: number
  project_id: string
  created_at: number
}

interface TransferAgentsTable {
  project_id: string
  /** JSON: agent ids, or beginnings of them followed by a star. */
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
  /** Open targets whose agents are not connected. */
  absent: Generated<number>
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
  /** 1: its agent is not connected, and is waited for. */
  absent: Generated<number>
}

interface TransferTasksTable {
  /** The UUID at the end of the public id. */
  id: string
  target_id: string
  created_at: number
}
