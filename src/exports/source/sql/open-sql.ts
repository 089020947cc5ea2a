import { openPostgresRows, type PostgresOptions, testPostgres } from './postgres-rows.ts'
import type { SqlRows, SqlSource, SqlTarget } from './sql-source.ts'

export type SqlAccess = Omit<PostgresOptions, 'url'>

export function openSqlRows(source: SqlSource, { url }: SqlTarget, access: SqlAccess): Promise<SqlRows> {
  return openPostgresRows(source, { ...access, url })
}

export function testTarget({ url }: SqlTarget, access: SqlAccess): Promise<void> {
  return testPostgres({ ...access, url })
}
