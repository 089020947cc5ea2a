export type Row = Record<string, string | number | null>

/** The rows of a ledger as they were at one moment. */
export interface LedgerCopy {
  /** The migration that the tables are at. */
  schema: number
  tables: readonly string[]
  rows(table: string): AsyncIterable<Row> | Iterable<Row>
}

/** What the running instances say of themselves, and what migrations write. */
const NOT_COPIED = ['schema_versions', 'event_numbering', 'instances', 'leaders', 'swarm_agents']

export function isCopied(table: string): boolean {
  return !NOT_COPIED.includes(table) && !table.startsWith('sqlite_')
}

/** A key of PostgreSQL alone; SQLite has `seq` for it. */
const OWN_COLUMNS: Record<string, readonly string[]> = { events: ['id'] }

/** The columns of a row that a table takes. Throws if it would lose one. */
export function columnsFor(table: string, row: Row, known: ReadonlySet<string>): string[] {
  const lost = Object.keys(row).find((name) => !known.has(name) && !OWN_COLUMNS[table]?.includes(name))
  if (lost !== undefined) throw new Error(`the table ${table} has no column ${lost}`)
  return Object.keys(row).filter((name) => known.has(name))
}

/** Tables in an order in which each comes after those that it refers to. */
export function inOrder(
  tables: readonly string[],
  refersTo: ReadonlyMap<string, readonly string[]>,
): string[] {
  const ordered = new Set<string>()
  const add = (table: string) => {
    if (ordered.has(table)) return
    for (const other of refersTo.get(table) ?? []) if (other !== table) add(other)
    ordered.add(table)
  }
  for (const table of tables) add(table)
  return [...ordered].filter((table) => tables.includes(table))
}
