// node peer-csv.ts DATABASE_URL QUERY TARGET: what a script with pg-query-stream and csv-stringify does.
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import pg from 'pg'
import QueryStream from 'pg-query-stream'

const [url, query = '', target = ''] = process.argv.slice(2)
const client = new pg.Client({ connectionString: url })
await client.connect()
const rows = client.query(new QueryStream(query, [], { batchSize: 1_000, highWaterMark: 1_000 }))
await pipeline(
  rows,
  stringify({ header: true, quoted_string: true, cast: { date: iso } }),
  createWriteStream(target),
)
await client.end()

function iso(date: Date): string {
  return date.toISOString()
}
