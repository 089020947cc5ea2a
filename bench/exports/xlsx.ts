// node bench/exports/xlsx.ts [ROWS …]: writes the same rows with every writer that this machine has, each in a process of
// its own, and prints them side by side. WRITERS=a,b keeps to those whose name contains a or b.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CONTESTANTS, type Files } from './xlsx/contestants.ts'
import { type Measured, measure } from './xlsx/measure.ts'
import { makeSpool } from './xlsx/rows.ts'

/** How many times faster than a peer each of our two runs has to be. */
const BARS: Record<string, { plain: number; styled: number }> = {
  'exceljs, streaming': { plain: 8, styled: 5 },
  'libxlsxwriter (C)': { plain: 7, styled: 4 },
  '@sheetkit (Rust)': { plain: 3, styled: 2 },
  'pigz -1, same XML': { plain: 1, styled: 0 },
}
const MEMORY_BAR = 300
/** The bars are meant for large exports; below, starting the process is most of the time. */
const BARS_FROM = 1_000_000

const sizes = process.argv.slice(2).map(Number)
const wanted = process.env.WRITERS?.split(',')
for (const rows of sizes.length > 0 ? sizes : [200_000, 1_000_000]) await compare(rows)

async function compare(rows: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  try {
    const files: Files = {
      folder,
      spool: join(folder, 'spool.csv'),
      index: join(folder, 'spool.json'),
      xml: join(folder, 'sheet.xml'),
    }
    writeFileSync(files.index, JSON.stringify(await makeSpool(files.spool, rows)))
    console.log(`\n${rows.toLocaleString('en')} rows × 10 columns`)
    const results = new Map<string, Measured>()
    for (const { name, command, lacks } of CONTESTANTS) {
      if (wanted && !wanted.some((part) => name.includes(part))) continue
      const target = join(folder, `${results.size}.xlsx`)
      const line = command(files, target)
      if (line === null) {
        console.log(`${name.padEnd(22)} left out: ${lacks} is missing`)
        continue
      }
      const [program, ...args] = line
      const result = await measure(program, args, target)
      results.set(name, result)
      print(name, rows, result, results.get('wharf, plain'))
      if (name === 'wharf, plain') extractSheet(target, files.xml)
      else rmSync(target)
    }
    if (rows >= BARS_FROM) judge(results)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function print(name: string, rows: number, result: Measured, ours: Measured | undefined): void {
  const { seconds, megabytes, bytes } = result
  const columns = [
    name.padEnd(22),
    `${seconds.toFixed(2)} s`.padStart(9),
    `${Math.round(rows / seconds / 1000)}k rows/s`.padStart(13),
    `${megabytes === null ? '?' : Math.round(megabytes)} MB peak`.padStart(13),
    `${(bytes / 1e6).toFixed(1)} MB file`.padStart(15),
    ours ? `${(seconds / ours.seconds).toFixed(2)} × plain`.padStart(15) : '',
  ]
  console.log(columns.join(''))
}

function judge(results: Map<string, Measured>): void {
  for (const look of ['plain', 'styled'] as const) {
    const ours = results.get(`wharf, ${look}`)
    if (!ours) continue
    for (const [name, bars] of Object.entries(BARS)) {
      const peer = results.get(name)
      if (!peer || bars[look] === 0) continue
      const ratio = peer.seconds / ours.seconds
      const verdict = ratio >= bars[look] ? 'met' : 'MISSED'
      console.log(`${look}: ${ratio.toFixed(2)} × as fast as ${name}, bar ${bars[look]} ×: ${verdict}`)
    }
    if (ours.megabytes === null) continue
    const verdict = ours.megabytes < MEMORY_BAR ? 'met' : 'MISSED'
    console.log(`${look}: ${Math.round(ours.megabytes)} MB, bar ${MEMORY_BAR} MB: ${verdict}`)
  }
}

/** pigz gets the XML of our own plain workbook, so that both compress the same bytes. */
function extractSheet(workbook: string, target: string): void {
  const found = spawnSync('unzip', ['-p', workbook, 'xl/worksheets/sheet1.xml'], {
    stdio: ['ignore', openSync(target, 'w'), 'ignore'],
  })
  if (found.status !== 0) writeFileSync(target, '')
}
