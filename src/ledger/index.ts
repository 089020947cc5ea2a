export { commitWith } from './commit-with.ts'
export { dumpPostgres } from './copy/dump-postgres.ts'
export { dumpSqlite, setSqliteSetting } from './copy/dump-sqlite.ts'
export type { LedgerCopy, Row } from './copy/ledger-copy.ts'
export { loadPostgres } from './copy/load-postgres.ts'
export { askPostgres, inspectPostgres } from './inspect/inspect-postgres.ts'
export { askSqlite, inspectSqlite } from './inspect/inspect-sqlite.ts'
export type { Ask, LedgerFacts, LivingInstance } from './inspect/ledger-facts.ts'
export { isOneOf, jsonRows } from './json-rows.ts'
export { type Ledger, now, type Tx } from './ledger.ts'
export { LedgerClock } from './ledger-clock.ts'
export {
  badCursor,
  type ListCursor,
  packCursor,
  readCursor,
  readIdCursor,
  unpackCursor,
  writeCursor,
  writeIdCursor,
} from './list-cursor.ts'
export { checkRolling, knownSchema, migrate } from './migrate.ts'
export { CONNECTIONS_PER_INSTANCE } from './postgres/session-settings.ts'
export type { Schema } from './schema.ts'
export { settle } from './settle.ts'
