import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { findBinary } from '../../test/support/find-binary.ts'
import { startPostgres } from '../../test/support/postgres-server.ts'
import { type Watched, watchProcess } from '../exports/pipeline/watch-process.ts'
import { measure } from '../exports/xlsx/measure.ts'

export const description =
  'sql: rows of PostgreSQL to a file, beside pg-query-stream with csv-stringify or exceljs, and \\copy'

const QUERY = 'select * from orders order by id'
const PARQUET_ROWS = 10_000_000
const PARQUET_MEGABYTES = 400
const BAR = 2

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const WHARF = [here('../../bin/wharf.mjs')]
const WHOLE = ['--max-rows', '1048576', '--max-bytes', '4294967295']

/** False if a bar was missed. `--parquet` and `--rows` keep to one half. */
export async function run(args: readonly string[]): Promise<boolean> {
  const rows = args.includes('--quick') ? 100_000 : 500_000
  const server = await startPostgres({ fsync: false })
  if (!server) throw new Error('needs PostgreSQL (Debian: apt-get install postgresql)')
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  try {
    const url = await fill(server.url, rows)
    const fast = args.includes('--parquet') || (await compare({ url, rows, folder }))
    const flat = args.includes('--rows') || (await parquet(url, folder))
    return fast && flat
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await server.remove()
  }
}

/** The rows of every export workload, and a role that may only read them. */
async function fill(url: string, rows: number): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create table orders as select n as id, 'ORD' || lpad((n * 2654435761 % 4294967296)::text, 17, '0') as order_no,
      '王秀英' as customer, timestamptz '2023-11-14 22:13:20Z' + n * interval '61 seconds' as created_at,
      (n % 1000000)::numeric / 100 as amount, (n % 997)::numeric / 100 as discount, (n % 89)::numeric / 1000 as tax,
      (array['paid', 'pending', 'refunded', 'cancelled'])[1 + n % 4] as status, '138' || lpad((n % 100000000)::text, 8, '0') as phone,
      case when n % 3 = 0 then 'left at door, "gate 4" & <code>' else 'none, thanks' end as note
    from generate_series(0::bigint, ${rows - 1}) n`)
  await client.query('alter table orders add primary key (id)')
  await client.query('create role reader login; grant select on orders to reader; analyze orders')
  await client.end()
  const reader = new URL(url)
  reader.username = 'reader'
  return reader.href
}

async function compare({
  url,
  rows,
  folder,
}: {
  url: string
  rows: number
  folder: string
}): Promise<boolean> {
  console.log(
    `\n${rows.toLocaleString('en')} rows × 10 columns of PostgreSQL, each in a process of its own, cold start included`,
  )
  const verdicts: boolean[] = []
  for (const [type, peer, ending, options] of [
    ['csv', 'csv-stringify', 'csv', []],
    ['xlsx', 'exceljs', 'xlsx', WHOLE],
  ] as const) {
    const target = join(folder, `file.${ending}`)
    const ours = async () => {
      const source = ['--sql', QUERY, '--connection', url]
      return watchProcess([...WHARF, 'export', ...source, '-o', target, ...options], target)
    }
    // In turns, and the better run of each counts: whatever else the machine does only ever slows one down.
    const both = { ours: [] as Watched[], theirs: [] as Watched[] }
    for (let turn = 0; turn < 2; turn++) {
      both.ours.push(await ours())
      both.theirs.push(await watchProcess([here(`./peer-${type}.ts`), url, QUERY, target], target))
    }
    const [mine, theirs] = [best(both.ours), best(both.theirs)]
    print(`wharf, ${type}`, rows, mine)
    print(`pg-query-stream + ${peer}`, rows, theirs)
    const ratio = theirs.seconds / mine.seconds
    verdicts.push(ratio >= BAR)
    console.log(
      `  → ${ratio.toFixed(2)} × the rows per second, bar ${BAR} ×: ${ratio >= BAR ? 'met' : 'MISSED'}`,
    )
  }
  const psql = findBinary('psql')
  if (psql) {
    const target = join(folder, 'copied.csv')
    const copy = ['-q', '-d', url, '-c', `\\copy (${QUERY}) to '${target}' csv header`]
    const { seconds } = await measure(psql, copy, target)
    console.log(`\\copy, the limit`.padEnd(34) + `${seconds.toFixed(2)} s`.padStart(9) + speed(rows, seconds))
  }
  return verdicts.every(Boolean)
}

/** Memory of the whole program while it writes one large file. */
async function parquet(url: string, folder: string): Promise<boolean> {
  const target = join(folder, 'large.parquet')
  const query = `select n as id, 'ORD' || n as order_no, (n % 1000000)::numeric / 100 as amount, n % 3 = 0 as paid,
    timestamptz '2023-11-14 22:13:20Z' + n * interval '1 second' as created_at from generate_series(1::bigint, ${PARQUET_ROWS}) n`
  const made = await watchProcess(
    [...WHARF, 'export', '--sql', query, '--connection', url, '-o', target],
    target,
  )
  print('wharf, parquet', PARQUET_ROWS, made)
  const met = made.megabytes <= PARQUET_MEGABYTES
  console.log(
    `  → ${PARQUET_ROWS.toLocaleString('en')} rows in ${Math.round(made.megabytes)} MB resident at most, bar ${PARQUET_MEGABYTES} MB: ${met ? 'met' : 'MISSED'}`,
  )
  return met
}

function best(runs: Watched[]): Watched {
  return runs.reduce((least, run) => (run.seconds < least.seconds ? run : least))
}

function speed(rows: number, seconds: number): string {
  return `${Math.round(rows / seconds / 1000)}k rows/s`.padStart(14)
}

function print(name: string, rows: number, { seconds, cpu, megabytes, bytes }: Watched): void {
  const cells = [
    name.padEnd(34),
    `${seconds.toFixed(2)} s`.padStart(9),
    speed(rows, seconds),
    `${((cpu / rows) * 1e6).toFixed(2)} µs cpu per row`.padStart(22),
    `${Math.round(megabytes)} MB peak`.padStart(14),
    `${(bytes / 1e6).toFixed(1)} MB file`.padStart(16),
  ]
  console.log(cells.join(''))
}
