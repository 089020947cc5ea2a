// node bench/exports/xlsx.ts [ROWS …]: writes the same rows with every writer that this machine has, each in a process of
// its own, and prints them side by side. WRITERS=a,b keeps to those whose name contains a or b.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contestant, type Files, PEERS, PLAIN, STYLED } from './xlsx/contestants.ts'
import { type Measured, measure } from './xlsx/measure.ts'
import { makeSpool } from './xlsx/rows.ts'

/** How many times faster than a peer each of our two runs has to be. */
const BARS: Record<string, { plain: number; styled?: number }> = {
  'exceljs, streaming': { plain: 8, styled: 5 },
  'libxlsxwriter (C)': { plain: 7, styled: 4 },
  '@sheetkit (Rust)': { plain: 3, styled: 2 },
  'pigz -1, same XML': { plain: 1 },
}
interface Ours {
  plain: Measured
  styled: Measured
}
const MEMORY_BAR = 300
/** The bars are meant for large exports; below, starting the process is most of the time. */
const BARS_FROM = 1_000_000

const sizes = process.argv.slice(2).map(Number)
const wanted = process.env.WRITERS?.split(',')
for (const rows of sizes.length > 0 ? sizes : [200_000, 1_000_000]) await compare(rows)

async function compare(rows: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  const files: Files = {
    folder,
    spool: join(folder, 'spool.csv'),
    index: join(folder, 'spool.json'),
    xml: join(folder, 'sheet.xml'),
  }
  try {
    writeFileSync(files.index, JSON.stringify(await makeSpool(files.spool, rows)))
    console.log(`\n${rows.toLocaleString('en')} rows × 10 columns`)
    const run = async ({ command, name, lacks }: Contestant): Promise<Measured | null> => {
      const target = join(folder, 'target.xlsx')
      const line = command(files, target)
      if (line === null) {
        console.log(`${name.padEnd(22)} left out: ${lacks} is missing`)
        return null
      }
      const [program, ...args] = line
      const result = await measure(program, args, target)
      print(name, rows, result)
      if (name === PLAIN.name && !existsSync(files.xml)) extractSheet(target, files.xml)
      rmSync(target)
      return result
    }
    let before = await runOurs(run)
    for (const peer of PEERS) {
      if (wanted && !wanted.some((part) => peer.name.includes(part))) continue
      const theirs = await run(peer)
      if (theirs === null) continue
      // On a machine that does other things too, only neighbours can be compared: ours ran before and runs after.
      const after = await runOurs(run)
      judge(peer.name, theirs, [before, after], rows >= BARS_FROM)
      before = after
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runOurs(run: (contestant: Contestant) => Promise<Measured | null>): Promise<Ours> {
  return { plain: (await run(PLAIN))!, styled: (await run(STYLED))! }
}

function print(name: string, rows: number, { seconds, megabytes, bytes }: Measured): void {
  const columns = [
    name.padEnd(22),
    `${seconds.toFixed(2)} s`.padStart(9),
    `${Math.round(rows / seconds / 1000)}k rows/s`.padStart(13),
    `${megabytes === null ? '?' : Math.round(megabytes)} MB peak`.padStart(13),
    `${(bytes / 1e6).toFixed(1)} MB file`.padStart(15),
  ]
  console.log(columns.join(''))
}

function judge(name: string, theirs: Measured, ours: Ours[], withBars: boolean): void {
  for (const look of ['plain', 'styled'] as const) {
    const seconds = ours.reduce((sum, run) => sum + run[look].seconds, 0) / ours.length
    const ratio = theirs.seconds / seconds
    const bar = withBars ? BARS[name]?.[look] : undefined
    const verdict = bar === undefined ? '' : `, bar ${bar} ×: ${ratio >= bar ? 'met' : 'MISSED'}`
    console.log(`  → ${look}: ${ratio.toFixed(2)} × as fast as ${name}${verdict}`)
    const megabytes = Math.max(...ours.map((run) => run[look].megabytes ?? 0))
    if (megabytes >= MEMORY_BAR)
      console.log(`  → ${look}: ${megabytes.toFixed(0)} MB, bar ${MEMORY_BAR} MB: MISSED`)
  }
}

/** pigz gets the XML of our own plain workbook, so that both compress the same bytes. */
function extractSheet(workbook: string, target: string): void {
  const found = spawnSync('unzip', ['-p', workbook, 'xl/worksheets/sheet1.xml'], {
    stdio: ['ignore', openSync(target, 'w'), 'ignore'],
  })
  if (found.status !== 0) writeFileSync(target, '')
}
