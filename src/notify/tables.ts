import type { Generated } from 'kysely'

declare module '../ledger/schema.ts' {
  interface Schema {
    deliveries: DeliveriesTable
  }
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
  /** Null: a notice, or made before jobs were noted. */
  job_id: Generated<string | null>
}
