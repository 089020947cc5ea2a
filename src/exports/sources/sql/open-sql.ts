import { SecretMask } from '../../../kernel/index.ts'
import { readMysqlUrl } from './mysql/mysql-url.ts'
import type { Driver, SqlReach, SqlRows, SqlSource, SqlTarget } from './sql-source.ts'
import { openSqliteRows, testSqlite } from './sqlite/sqlite-rows.ts'

export type SqlAccess = Omit<SqlReach, 'url'>

interface DriverParts {
  open(source: SqlSource, reach: SqlReach): Promise<SqlRows>
  /** Opens a session and closes it again. */
  test(reach: SqlReach): Promise<void>
  isTarget(url: string): boolean
  /** What a target looks like. */
  example: string
}

/** Clients of databases are loaded when the first of their queries comes: most servers need none. */
const PARTS: Record<Driver, DriverParts> = {
  postgres: {
    open: async (source, reach) =>
      (await import('./postgres/postgres-rows.ts')).openPostgresRows(source, reach),
    test: async (reach) => (await import('./postgres/postgres-rows.ts')).testPostgres(reach),
    isTarget: (url) => /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url),
    example: 'postgres://user:password@host/name',
  },
  mysql: {
    open: async (source, reach) => (await import('./mysql/mysql-rows.ts')).openMysqlRows(source, reach),
    test: async (reach) => (await import('./mysql/mysql-rows.ts')).testMysql(reach),
    isTarget: (url) => readMysqlUrl(url) !== undefined,
    example: 'mysql://user:password@host/name or mysql://user:password@host/name?sslmode=require',
  },
  sqlite: {
    open: openSqliteRows,
    test: testSqlite,
    isTarget: (url) => url.startsWith('/') && !url.includes('\0'),
    example: '/var/lib/shop/shop.db, the absolute path of a file',
  },
}

/** What the database says of a query may repeat how it was reached. */
export function openSqlRows(
  source: SqlSource,
  { driver, url }: SqlTarget,
  access: SqlAccess,
): Promise<SqlRows> {
  const mask = new SecretMask().addUrl(url)
  return mask.guard(async () => {
    const rows = await PARTS[driver].open(source, { ...access, url })
    return { ...rows, pages: () => mask.guardEach(rows.pages()) }
  })
}

export function testTarget({ driver, url }: SqlTarget, access: SqlAccess): Promise<void> {
  return new SecretMask().addUrl(url).guard(() => PARTS[driver].test({ ...access, url }))
}

/** What is wrong with a target, if anything is. */
export function targetFault({ driver, url }: SqlTarget): string | undefined {
  const { isTarget, example } = PARTS[driver]
  return isTarget(url) ? undefined : `url is no address of a ${driver} database, such as ${example}`
}
