import { statements } from '../../src/ledger/statements.ts'

export interface Statement {
  sql: string
  parameters: readonly unknown[]
}

/** How a statement was carried out on a ledger full of history. */
export interface Carried extends Statement {
  /** Each table that it went through from end to end, and how. */
  scans: string[]
  /** Pages of the database that it has read. */
  pages: number
}

const SAMPLES = 3
const DATA = /^\s*(with|select|insert|update|delete)\b/i

/** Collects what is sent to the ledgers of this process, until called: each text with some of its parameters. */
export function collectStatements(): () => Statement[] {
  const found = new Map<string, Statement[]>()
  const note = (message: unknown) => {
    const { sql, parameters } = message as Statement
    if (!DATA.test(sql)) return
    const same = found.get(shapeOf(sql)) ?? []
    found.set(shapeOf(sql), [...same.slice(0, SAMPLES - 1), { sql, parameters }])
  }
  statements.subscribe(note)
  return () => {
    statements.unsubscribe(note)
    return [...found.values()].flat()
  }
}

/** Lists of any length are the same statement. */
export function shapeOf(sql: string): string {
  return sql
    .replace(/\$\d+/g, '?')
    .replace(/\s+/g, ' ')
    .replace(/((\((cast\(\? as \w+\)|\?|wharf_now\(\)|, )+\))(, )?)+/g, '(…)')
    .trim()
}
