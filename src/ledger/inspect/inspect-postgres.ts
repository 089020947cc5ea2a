import { type Ask, type LedgerFacts, readCommonFacts } from './ledger-facts.ts'

const ANSWER_MS = 5_000
/** Off, a crash of the server loses or breaks what was committed. */
const MUST_BE_ON = ['fsync', 'synchronous_commit', 'full_page_writes']

/** Asks PostgreSQL over one connection of its own. */
export async function askPostgres<T>(url: string, work: (ask: Ask) => Promise<T>): Promise<T> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    application_name: 'wharf-doctor',
  })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(async (statement, ...parameters) => {
      let index = 0
      const numbered = statement.replaceAll('?', () => `$${++index}`)
      return (await client.query(numbered, parameters)).rows
    })
  } finally {
    await client.end().catch(() => undefined)
  }
}

export function inspectPostgres(url: string, { leaseMs }: { leaseMs: number }): Promise<LedgerFacts> {
  return askPostgres(url, (ask) => readFacts(ask, leaseMs))
}

async function readFacts(ask: Ask, leaseMs: number): Promise<LedgerFacts> {
  const settings = new Map(
    (
      await ask(
        `select name, setting from pg_settings where name in ('server_version', 'max_connections',
          'superuser_reserved_connections', ${MUST_BE_ON.map((name) => `'${name}'`).join(', ')})`,
      )
    ).map(({ name, setting }) => [String(name), String(setting)]),
  )
  const [{ used } = {}] = await ask('select count(*) as used from pg_stat_activity where datname is not null')
  const sent = Date.now()
  const [{ now } = {}] = await ask('select extract(epoch from clock_timestamp()) * 1000 as now')
  const between = (sent + Date.now()) / 2
  const [{ found } = {}] = await ask("select to_regclass('settings') is not null as found")
  const common = await readCommonFacts(ask, {
    hasTables: found === true,
    aliveSince: Math.round(Number(now) - leaseMs),
  })
  const most =
    Number(settings.get('max_connections')) - Number(settings.get('superuser_reserved_connections'))
  return {
    ...common,
    version: settings.get('server_version') ?? '',
    aheadMs: Math.round(Number(now) - between),
    connections: { most, used: Number(used) },
    unsafe: MUST_BE_ON.filter((name) => settings.get(name) === 'off'),
  }
}
