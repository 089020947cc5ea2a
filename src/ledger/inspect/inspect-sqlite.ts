import { DatabaseSync } from 'node:sqlite'
import { type Ask, type LedgerFacts, readCommonFacts } from './ledger-facts.ts'

/** Reads the embedded ledger, also while a server has it. */
export async function inspectSqlite(file: string, { leaseMs }: { leaseMs: number }): Promise<LedgerFacts> {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const ask: Ask = async (statement, ...parameters) =>
      db.prepare(statement).all(...parameters) as Record<string, unknown>[]
    const [{ version } = {}] = await ask('select sqlite_version() as version')
    const tables = await ask("select name from sqlite_master where name = 'settings'")
    const common = await readCommonFacts(ask, {
      hasTables: tables.length > 0,
      aliveSince: Date.now() - leaseMs,
    })
    return { ...common, version: String(version), aheadMs: null, connections: null, unsafe: [] }
  } finally {
    db.close()
  }
}
