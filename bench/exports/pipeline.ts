// node bench/exports/pipeline.ts [--quick] [--only=extras]: the whole way from a source on loopback to a file.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { NURSERY, type Watched, watchProcess } from './pipeline/watch-process.ts'

const PAGE_ROWS = 1_000
/** What an export of many pages uses. */
const CONNECTIONS = 5
/** About how many bytes a row takes in the CSV file. */
const CSV_ROW_BYTES = 125
const MEMORY_BAR = 300
const EXTRA_ROUNDS = 3

interface Warm {
  seconds: number
  cpu: number
  megabytes: number
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const run = promisify(execFile)

/** False if a bar was missed. */
export async function benchPipeline({ quick = false, only = '' } = {}): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  const source = spawn(process.execPath, [here('./pipeline/source.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [port] = await once(source.stdout.setEncoding('utf8'), 'data')
    const url = `http://127.0.0.1:${Number(port)}/`
    const extra = () => compareExtras(url, folder, quick ? 200_000 : 1_000_000)
    if (only === 'extras') return await extra()
    const flat = await compareSizes(url, folder, quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000])
    const large = await compareWithCopy(url, folder, quick ? 100e6 : 1e9)
    return (await extra()) && flat && large
  } finally {
    source.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A warm process, as a server is one. */
async function compareSizes(url: string, folder: string, sizes: number[]): Promise<boolean> {
  const verdicts: boolean[] = []
  for (const type of ['csv', 'excel']) {
    const costs: number[] = []
    for (const rows of sizes) {
      const script = here('./pipeline/warm-export.ts')
      const { stdout } = await run(process.execPath, [...NURSERY, script, url, String(rows), type, folder])
      const { seconds, cpu, megabytes } = JSON.parse(stdout) as Warm
      costs.push((cpu / rows) * 1e6)
      const cells = [
        `${type}, ${rows.toLocaleString('en')} rows`.padEnd(24),
        `${seconds.toFixed(2)} s`.padStart(9),
        `${Math.round(rows / seconds / 1000)}k rows/s`.padStart(14),
        `${((cpu / rows) * 1e6).toFixed(2)} µs cpu a row`.padStart(20),
        `${Math.round(megabytes)} MB peak`.padStart(13),
      ]
      console.log(cells.join(''))
      verdicts.push(judge(`${type}, ${rows} rows: memory`, megabytes, '<', MEMORY_BAR, 'MB'))
    }
    const growth = costs.at(-1)! / costs[0]!
    verdicts.push(judge(`${type}: cost a row, largest to smallest`, growth, '<', 1.25, '×'))
  }
  return verdicts.every(Boolean)
}

/** What a theme and a key may cost, each in turns with an export that has neither; the best run of each counts. */
async function compareExtras(url: string, folder: string, rows: number): Promise<boolean> {
  const seconds = async (type: string, wishes: object) => {
    const args = [here('./pipeline/warm-export.ts'), `${url}?unique=1`, String(rows), type, folder]
    const { stdout } = await run(process.execPath, [...NURSERY, ...args, JSON.stringify(wishes)])
    return (JSON.parse(stdout) as Warm).seconds
  }
  const verdicts: boolean[] = []
  for (const [what, type, without, with_, bar] of [
    ['excel, theme business to plain', 'excel', { theme: 'plain' }, { theme: 'business' }, 1.15],
    ['csv, key compared to none', 'csv', {}, { key: ['id'] }, 1.2],
    ['excel, key compared to none', 'excel', {}, { key: ['id'] }, 1.2],
  ] as const) {
    const times: [number[], number[]] = [[], []]
    for (let round = 0; round < EXTRA_ROUNDS; round++) {
      times[0].push(await seconds(type, without))
      times[1].push(await seconds(type, with_))
    }
    const [before, after] = times.map((all) => Math.min(...all)) as [number, number]
    console.log(`${what}: ${after.toFixed(2)} s to ${before.toFixed(2)} s, ${rows.toLocaleString('en')} rows`)
    verdicts.push(judge(what, after / before, '<', bar, '×'))
  }
  return verdicts.every(Boolean)
}

/**
 * The command itself, cold start and all, against merely fetching and keeping the same pages. Both run twice, in turns,
 * and the better run counts: whatever else the machine does only ever slows one down.
 */
async function compareWithCopy(url: string, folder: string, csvBytes: number): Promise<boolean> {
  const pages = Math.ceil(csvBytes / CSV_ROW_BYTES / PAGE_ROWS)
  const rows = pages * PAGE_ROWS
  const address = `${url}?rows=${rows}`
  const [copied, csv] = [join(folder, 'copy.json'), join(folder, 'orders.csv')]
  const copyArgs = [here('./pipeline/copy.ts'), address, String(pages), String(CONNECTIONS), copied]
  const main = here('../../bin/wharf.mjs')
  const exportArgs = [main, 'export', address, '-o', csv, '--page-size', String(PAGE_ROWS)]
  const copies: Watched[] = []
  const exports: Watched[] = []
  for (let round = 0; round < 2; round++) {
    copies.push(await watchProcess(copyArgs, copied))
    show('copying the pages', rows, copies[round]!)
    rmSync(copied)
    exports.push(await watchProcess(exportArgs, csv))
    show('wharf export, CSV', rows, exports[round]!)
    rmSync(csv)
  }
  const ratio = (of: (one: Watched) => number) => Math.min(...copies.map(of)) / Math.min(...exports.map(of))
  console.log(`      processor time beside the copy: ${ratio((one) => one.cpu).toFixed(2)} ×`)
  const speed = judge(
    'throughput beside the copy',
    ratio((one) => one.seconds),
    '>',
    0.5,
    '×',
  )
  const memory = Math.max(...exports.map((one) => one.megabytes))
  return judge('memory', memory, '<', MEMORY_BAR, 'MB') && speed
}

function show(name: string, rows: number, { seconds, cpu, megabytes, bytes }: Watched): void {
  const cells = [
    name.padEnd(24),
    `${seconds.toFixed(2)} s`.padStart(9),
    `${Math.round(rows / seconds / 1000)}k rows/s`.padStart(14),
    `${((cpu / rows) * 1e6).toFixed(2)} µs cpu a row`.padStart(20),
    `${Math.round(megabytes)} MB peak`.padStart(13),
    `${(bytes / 1e6).toFixed(0)} MB file`.padStart(14),
  ]
  console.log(cells.join(''))
}

function judge(what: string, value: number, sign: '<' | '>', bar: number, unit: string): boolean {
  const met = sign === '<' ? value < bar : value > bar
  console.log(`${met ? 'PASS' : 'FAIL'}  ${what}: ${value.toFixed(2)} ${unit}, bar ${sign} ${bar} ${unit}`)
  return met
}

if (import.meta.main) {
  const only = process.argv.includes('--only=extras') ? 'extras' : ''
  process.exitCode = (await benchPipeline({ quick: process.argv.includes('--quick'), only })) ? 0 : 1
}
