import { DatabaseSync } from 'node:sqlite'
import { isOnReadOnlyFileSystem, openReadOnly } from '../sqlite/open-read-only.ts'
import { isCopied, type LedgerCopy, type Row } from './ledger-copy.ts'

const PATIENCE_MS = 10_000

/**
 * Reads the embedded ledger as it is at one moment, also while a server has it: in WAL mode a reader keeps its snapshot, and
 * holds up no writer.
 */
export async function dumpSqlite<T>(file: string, use: (copy: LedgerCopy) => Promise<T>): Promise<T> {
  const db = openReadOnly(file, { timeout: PATIENCE_MS })
  try {
    db.exec('begin')
    const [row] = db.prepare('select max(version) as schema from schema_versions').all()
    const tables = db.prepare("select name from sqlite_master where type = 'table' order by name").all()
    return await use({
      schema: Number(row?.schema),
      tables: tables.map(({ name }) => String(name)).filter(isCopied),
      rows: (table) => db.prepare(`select * from "${table}" order by rowid`).iterate() as Iterable<Row>,
    })
  } finally {
    db.close()
  }
}

/** Writes a setting beside a running server; both wait for one another. On a read-only file system nothing is written. */
export function setSqliteSetting(file: string, key: string, value: string): void {
  if (isOnReadOnlyFileSystem(file)) return
  const db = new DatabaseSync(file, { timeout: PATIENCE_MS })
  try {
    db.prepare(
      `insert into settings (key, value, updated_at) values (?, ?, ?)
      on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`,
    ).run(key, value, Date.now())
  } finally {
    db.close()
  }
}
