import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { askPostgres } from '../../ledger/index.ts'

type Place = Pick<Config, 'DATABASE_URL' | 'WHARF_DATA_DIR'>

/** Undefined where an installation is; else the sentence that there is none. */
export async function noWharfIn({
  DATABASE_URL: url,
  WHARF_DATA_DIR: dataDir,
}: Place): Promise<string | undefined> {
  const isThere =
    url === null
      ? existsSync(join(dataDir, 'ledger.db'))
      : await askPostgres(url, async (ask) => {
          const [row] = await ask("select to_regclass('settings') is not null as found")
          return row?.found === true
        })
  if (isThere) return undefined
  const where = url === null ? dataDir : `the database ${databaseOf(url)}`
  return `there is no Wharf in ${where}; set WHARF_DATA_DIR or DATABASE_URL as for 'wharf serve'`
}

/** Without its password. */
function databaseOf(url: string): string {
  const { pathname, host } = new URL(url)
  return `${decodeURIComponent(pathname.slice(1))} at ${host}`
}
