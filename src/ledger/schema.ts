/**
 * The tables, by name. Each module adds its own in its `tables.ts`; their migrations are beside them. Times are milliseconds
 * of the ledger's clock, flags are 0 or 1, JSON is text: the same in both dialects.
 */
export interface Schema {
  schema_versions: { version: number; name: string; applied_at: number }
}
