import type { Generated } from 'kysely'

declare module '../ledger/schema.ts' {
  interface Schema {
    processing_tasks: ProcessingTasksTable
    processing_uploads: ProcessingUploadsTable
  }
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

interface ProcessingUploadsTable {
  id: string
  project_id: string
  size: number
  created_at: number
}
