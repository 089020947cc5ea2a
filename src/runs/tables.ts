declare module '../ledger/schema.ts' {
  interface Schema {
    accounts: AccountsTable
    runs: RunsTable
    account_files: AccountFilesTable
  }
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
  /** Where a file that failed comes from. */
  url: string | null
  error_code: string | null
  error_message: string | null
  failed_at: number | null
}
