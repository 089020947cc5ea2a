// node bench/exports/served.ts [--quick] [--only=s3-csv]: exports through `wharf serve` into the disk store and into S3, and what the server
// holds in memory meanwhile and afterwards.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Bar, checkBars, printTable } from '../report.ts'
import { WharfServer } from '../wharf-server.ts'

const PAGE_ROWS = 1_000
/** About how many bytes a row takes in the CSV file. */
const CSV_ROW_BYTES = 125
const PEAK_BAR = 300
const BACK_BAR = 1.3
const BACK_WITHIN_MS = 60_000

interface Task {
  task_id: string
  status: string
  error: unknown
  file: { size: number; rows: number } | null
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** False if a bar was missed. */
export async function benchServed({ quick = false, only = '' } = {}): Promise<boolean> {
  const source = start('./pipeline/source.ts')
  const s3 = start('./served/s3-process.ts')
  try {
    const url = `http://127.0.0.1:${Number(await said(source))}/`
    const bucket = JSON.parse(await said(s3)) as Record<string, string>
    const stores = {
      disk: {},
      s3: {
        S3_ENDPOINT: bucket.endpoint!,
        S3_REGION: bucket.region!,
        S3_BUCKET: bucket.bucket!,
        S3_ACCESS_KEY_ID: bucket.accessKeyId!,
        S3_SECRET_ACCESS_KEY: bucket.secretAccessKey!,
      },
    }
    const rows = { csv: Math.ceil((quick ? 100e6 : 1e9) / CSV_ROW_BYTES), excel: quick ? 100_000 : 1_000_000 }
    const bars: Bar[] = []
    for (const [store, settings] of Object.entries(stores))
      for (const type of (['csv', 'excel'] as const).filter((one) => `${store}-${one}`.includes(only)))
        bars.push(...(await measure(store, settings, url, type, rows[type])))
    return checkBars(bars)
  } finally {
    source.kill()
    s3.kill()
  }
}

async function measure(
  store: string,
  settings: Record<string, string>,
  url: string,
  type: 'csv' | 'excel',
  rows: number,
): Promise<Bar[]> {
  const server = await WharfServer.start({
    ...settings,
    // One workbook, not many in an archive.
    WHARF_EXCEL_MAX_ROWS: '1048000',
    WHARF_EXCEL_MAX_BYTES: '4294967295',
  })
  try {
    const fresh = server.memory().now
    const { api_key } = await server.ask<{ api_key: string }>('POST', '/api/projects', { name: 'bench' })
    const run = (count: number) => exported(server, api_key, { source_url: `${url}?rows=${count}`, type })
    // Threads and libraries are loaded on first use: a server that has made no file yet is no measure for one that has.
    await run(50_000)
    await sleep(5_000)
    const before = server.memory().now
    const started = performance.now()
    const { file } = await run(rows)
    const seconds = (performance.now() - started) / 1_000
    const { most } = server.memory()
    const after = await settled(server, before * BACK_BAR)
    printTable(
      ['store', 'file', 'rows', 'MB', 'seconds', 'fresh MB', 'before MB', 'peak MB', 'after MB', 'after s'],
      [
        [
          store,
          type,
          file?.rows,
          (file?.size ?? 0) / 1e6,
          seconds,
          fresh,
          before,
          most,
          after.megabytes,
          after.seconds,
        ],
      ],
    )
    const what = `${type} into ${store}`
    return [
      { what: `${what}: peak`, value: most, atMost: PEAK_BAR, unit: 'MB' },
      { what: `${what}: after to before`, value: after.megabytes / before, atMost: BACK_BAR, unit: '×' },
    ]
  } finally {
    await server.stop()
  }
}

async function exported(
  server: WharfServer,
  key: string,
  wish: { source_url: string; type: string },
): Promise<Task> {
  const { task_id } = await server.ask<Task>('POST', '/api/exports', { ...wish, page_size: PAGE_ROWS }, key)
  for (;;) {
    const task = await server.ask<Task>('GET', `/api/exports/${task_id}`, undefined, key)
    if (task.status === 'succeeded') return task
    if (!['pending', 'processing'].includes(task.status))
      throw new Error(`the export ${JSON.stringify(task)}`)
    await sleep(100)
  }
}

/** What the server holds once it is back at `bar`, or after a minute. */
async function settled(server: WharfServer, bar: number): Promise<{ megabytes: number; seconds: number }> {
  const started = performance.now()
  for (;;) {
    const megabytes = server.memory().now
    const passed = performance.now() - started
    if (megabytes <= bar || passed > BACK_WITHIN_MS) return { megabytes, seconds: passed / 1_000 }
    await sleep(500)
  }
}

function start(script: string): ChildProcess {
  return spawn(process.execPath, [here(script)], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function said(child: ChildProcess): Promise<string> {
  const [line] = await once(child.stdout!.setEncoding('utf8'), 'data')
  return String(line)
}

if (import.meta.main) {
  const only = process.argv.find((arg) => arg.startsWith('--only='))?.slice('--only='.length)
  process.exitCode = (await benchServed({ quick: process.argv.includes('--quick'), only })) ? 0 : 1
}
