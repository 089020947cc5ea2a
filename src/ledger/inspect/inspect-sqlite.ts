import { openReadOnly } from '../sqlite/open-read-only.ts'
import { type Ask, type LedgerFacts, readCommonFacts } from './ledger-facts.ts'

/** Reads the embedded ledger, also while a server has it. */
export async function askSqlite<T>(file: string, work: (ask: Ask) => Promise<T>): Promise<T> {
  const db = openReadOnly(file)
  try {
    return await work(
      async (statement, ...parameters) =>
        db.prepare(statement).all(...parameters) as Record<string, unknown>[],
    )
  } finally {
    db.close()
  }
}

export function inspectSqlite(file: string, { leaseMs }: { leaseMs: number }): Promise<LedgerFacts> {
  return askSqlite(file, async (ask) => {
    const [{ version } = {}] = await ask('select sqlite_version() as version')
    const tables = await ask("select name from sqlite_master where name = 'settings'")
    const common = await readCommonFacts(ask, {
      hasTables: tables.length > 0,
      aliveSince: Date.now() - leaseMs,
    })
    return { ...common, version: String(version), aheadMs: null, connections: null, unsafe: [] }
  })
}
