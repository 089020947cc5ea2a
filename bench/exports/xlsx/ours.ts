// node ours.ts SPOOL.json TARGET plain|styled
import { readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { basename, dirname } from 'node:path'
import { plainPlan, styledPlan } from './plans.ts'
import type { BenchSpool } from './rows.ts'

// As any start of the program but its first: code that was compiled before is taken from disk.
enableCompileCache()
const { writeWorkbook } = await import('../../../src/exports/xlsx/index.ts')
const { ThreadPool } = await import('../../../src/exports/threads/index.ts')

const [index = '', target = '', look = 'plain'] = process.argv.slice(2)
const spool: BenchSpool = JSON.parse(readFileSync(index, 'utf8'))
const pool = new ThreadPool()
await writeWorkbook(
  { pool },
  {
    sheets: [
      { plan: look === 'plain' ? plainPlan() : styledPlan(), segments: [spool], widths: spool.widths },
    ],
    directory: dirname(target),
    baseName: basename(target, '.xlsx'),
    maxRows: 1_048_000,
    maxBytes: 4e9,
    timezone: 'UTC',
    signal: new AbortController().signal,
  },
)
await pool.close()
