export interface MysqlTarget {
  host: string
  port: number
  user: string
  password: string
  database: string
  ssl: { rejectUnauthorized: boolean; verifyIdentity: boolean } | null
}

const SSL: Record<string, MysqlTarget['ssl']> = {
  disable: null,
  require: { rejectUnauthorized: true, verifyIdentity: true },
  'no-verify': { rejectUnauthorized: false, verifyIdentity: false },
}

/** Reads `mysql://user:password@host:port/name?sslmode=require`; undefined when it is not of that form. */
export function readMysqlUrl(url: string): MysqlTarget | undefined {
  const read = /^(?:mysql|mariadb):\/\//.test(url) ? URL.parse(url) : null
  if (!read || read.hostname === '' || read.username === '' || read.hash !== '') return undefined
  const { sslmode = 'disable', ...unknown } = Object.fromEntries(read.searchParams)
  const ssl = SSL[sslmode]
  if (ssl === undefined || Object.keys(unknown).length > 0) return undefined
  try {
    return {
      host: read.hostname.replace(/^\[|\]$/g, ''),
      port: read.port === '' ? 3306 : Number(read.port),
      user: decodeURIComponent(read.username),
      password: decodeURIComponent(read.password),
      database: decodeURIComponent(read.pathname.slice(1)),
      ssl,
    }
  } catch {
    return undefined
  }
}
