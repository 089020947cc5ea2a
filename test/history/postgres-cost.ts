import pg from 'pg'
import { BOUNDED_TABLES } from './bounded-tables.ts'
import type { Carried, Statement } from './statement.ts'

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: Node[]
}

/** Rows that a statement may look at in one table; it is far above any page of a list and far below the history. */
const MOST_ROWS = 2_000

/** What a part of a plan did with one table. */
interface Scan {
  type: string
  table: string
  rows: number
}

/** Goes through a table that grows with finished work, or through much of one. */
function readsHistory({ type, table, rows }: Scan): boolean {
  return (type === 'Seq Scan' || rows > MOST_ROWS) && !BOUNDED_TABLES.has(table)
}

/**
 * Carries statements out with the parameters they had, each in a transaction that is rolled back. The server reports how
 * it went about them and about what triggers and functions did inside.
 */
export async function carryOutOnPostgres(
  url: string,
  statements: Statement[],
  isDear: (scan: Scan) => boolean = readsHistory,
): Promise<Carried[]> {
  const client = new pg.Client({ connectionString: url })
  const plans: Node[] = []
  client.on('notice', ({ message }) => {
    const plan = /plan:\n(\{.*)/s.exec(message ?? '')?.[1]
    if (plan) plans.push((JSON.parse(plan) as { Plan: Node }).Plan)
  })
  await client.connect()
  try {
    // As autovacuum keeps them: on a busy machine it may not have come by after the load.
    await client.query('vacuum analyze')
    await client.query(`load 'auto_explain'`)
    await client.query(`set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
      set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set auto_explain.log_timing = off;
      set auto_explain.log_format = json; set auto_explain.log_level = notice`)
    const carried: Carried[] = []
    for (const statement of statements) {
      await client.query('begin')
      plans.length = 0
      // What was inserted once cannot be inserted again; such a statement is refused before it costs anything.
      await client.query(statement.sql, [...statement.parameters]).catch(() => undefined)
      await client.query('rollback')
      const pages = plans.reduce((sum, plan) => sum + pagesOf(plan), 0)
      carried.push({ ...statement, scans: plans.flatMap((plan) => scansIn(plan, isDear)), pages })
    }
    return carried
  } finally {
    await client.end()
  }
}

function scansIn(node: Node, isDear: (scan: Scan) => boolean): string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index } = node
  const passed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const rows = ((node['Actual Rows'] ?? 0) + passed) * (node['Actual Loops'] ?? 1)
  const name = table ?? index
  const own =
    /Scan/.test(type) && name && isDear({ type, table: name, rows })
      ? [`${type} on ${name}${table && index ? ` using ${index}` : ''}, ${rows} rows`]
      : []
  return [...own, ...(node.Plans ?? []).flatMap((inner) => scansIn(inner, isDear))]
}

function pagesOf(plan: Node): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
}
