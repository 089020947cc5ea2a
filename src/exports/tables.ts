import type { Generated } from 'kysely'

declare module '../ledger/schema.ts' {
  interface Schema {
    export_list: ExportListTable
    export_files: ExportFilesTable
    export_reports: ExportReportsTable
    export_downloads: ExportDownloadsTable
    export_link_uses: ExportLinkUsesTable
    export_rows: ExportRowsTable
    connections: ConnectionsTable
    templates: TemplatesTable
    template_versions: TemplateVersionsTable
    saved_exports: SavedExportsTable
    saved_export_runs: SavedExportRunsTable
  }
}

/** What lists are sorted and filtered by; kept by triggers, and only read here. */
interface ExportListTable {
  task_id: string
  project_id: string
  created_at: number
  outcome: 'open' | 'succeeded' | 'failed' | 'cancelled'
  ended_at: number
  type: string
  operator: string | null
  name: string
  title: string
  size: number
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

interface ExportReportsTable {
  job_id: string
  report: string
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

/** Only of tasks whose links are limited. */
interface ExportLinkUsesTable {
  task_id: string
  uses: number
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

interface ConnectionsTable {
  name: string
  driver: string
  /** Sealed as a whole. */
  url: string
  /** JSON: ids of the projects that may use it. */
  projects: string
  updated_at: number
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
