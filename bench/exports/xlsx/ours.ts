import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { ThreadPool } from '../../../src/exports/index.ts'
import { writeWorkbook } from '../../../src/exports/xlsx/index.ts'
import { plainPlan, styledPlan } from './plans.ts'
import type { BenchSpool } from './rows.ts'

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
