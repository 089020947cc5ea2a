export { commitWith } from './commit-with.ts'
export { dumpPostgres } from './copy/dump-postgres.ts'
export { dumpSqlite, setSqliteSetting } from './copy/dump-sqlite.ts'
export type { LedgerCopy, Row } from './copy/ledger-copy.ts'
export { loadPostgres } from './copy/load-postgres.ts'
export { inspectPostgres } from './inspect/inspect-postgres.ts'
export { inspectSqlite } from './inspect/inspect-sqlite.ts'
export type { LedgerFacts, LivingInstance } from './inspect/ledger-facts.ts'
export { jsonRows } from './json-rows.ts'
export { type Ledger, now, type Tx } from './ledger.ts'
export { LedgerClock } from './ledger-clock.ts'
export { readCursor, writeCursor } from './list-cursor.ts'
export { knownSchema, migrate } from './migrate.ts'
export { CONNECTIONS_PER_INSTANCE } from './postgres/session-settings.ts'
export type {
  JobState,
  JobsTable,
  ProjectKeysTable,
  ProjectsTable,
  Schema,
  SessionsTable,
  TasksTable,
  TransferStatus,
} from './schema.ts'
