import { readFileSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { BOUNDED_TABLES, NO_TABLE } from './bounded-tables.ts'
import type { Carried, Statement } from './statement.ts'

interface Plan {
  detail: string
}

/**
 * Carries statements out on a copy of nothing: each in a transaction that is rolled back, on a connection whose cache is
 * empty. How many pages were read is known from the system, which counts reads per thread.
 */
export function carryOutOnSqlite(file: string, statements: Statement[]): Carried[] {
  return statements.map((statement) => {
    const db = new DatabaseSync(file)
    try {
      db.function('wharf_now', () => BigInt(Date.now()))
      db.exec('pragma foreign_keys = on; begin')
      const parameters = statement.parameters.map(toSqlite)
      const plan = db.prepare(`explain query plan ${statement.sql}`).all(...parameters) as unknown as Plan[]
      const scans = plan.flatMap(({ detail }) => (isScan(db, detail, statement.sql) ? [detail] : []))
      const before = readsOfThisThread()
      try {
        db.prepare(statement.sql).all(...parameters)
      } catch {
        // What was inserted once cannot be inserted again; it has cost what it costs all the same.
      }
      return { ...statement, scans, pages: readsOfThisThread() - before }
    } finally {
      db.close()
    }
  })
}

/** Going through an index is none by itself: it may be small, or left after a page. The pages read tell. */
function isScan(db: DatabaseSync, detail: string, sql: string): boolean {
  const [scan, name = ''] = /^SCAN (\S+)/.exec(detail) ?? []
  return scan !== undefined && !/ INDEX /.test(detail) && !BOUNDED_TABLES.has(tableOf(db, name, sql))
}

/** The table that goes by this name in the statement; what is none (a list of values, say) is bounded. */
function tableOf(db: DatabaseSync, name: string, sql: string): string {
  const real = new RegExp(`"?(\\w+)"? as "?${name}"?\\b`, 'i').exec(sql)?.[1] ?? name
  return definitionOf(db, real) === '' ? NO_TABLE : real
}

function definitionOf(db: DatabaseSync, name: string): string {
  return String(db.prepare('select sql from sqlite_schema where name = ?').get(name)?.sql ?? '')
}

function readsOfThisThread(): number {
  return Number(/^syscr: (\d+)$/m.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1])
}

function toSqlite(value: unknown): SQLInputValue {
  if (value === undefined) return null
  return typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)
}
