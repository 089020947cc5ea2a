import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'csv-stringify/sync'
import { fetchToSpool } from '../../src/exports/sources/index.ts'
import { PAGE_MARGIN, type PageSource } from '../../src/exports/sources/pages/index.ts'
import { RowTranscoder, SegmentBuffer } from '../../src/exports/sources/rows/index.ts'
import { removeSpool } from '../../src/exports/sources/spool/spool-folder.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { ORDER_FIELDS, type OrderRow, orderRow } from './order-rows.ts'

/**
 * The fetch stage without a network: pages of JSON in, spool bytes out. Each contender gets the same bytes. The bar is
 * three times `JSON.parse` with csv-stringify.
 */

const PAGE_SIZE = 1_000
const PAGES = 20

interface Contender {
  name: string
  /** Does all pages once; returns the bytes it made, so that nothing is optimised away. */
  run(): number
}

/** The rows alone, as they are under `data`, with the margin that the scanners need after them. */
function pages(write: (row: OrderRow) => string): Buffer[] {
  return Array.from({ length: PAGES }, (_, page) => {
    const rows = Array.from({ length: PAGE_SIZE }, (_, index) => write(orderRow(page * PAGE_SIZE + index)))
    return Buffer.from(`[${rows.join()}]${'\0'.repeat(PAGE_MARGIN)}`)
  })
}

function shuffled(row: OrderRow): string {
  const pairs = Object.entries(row)
  for (let index = pairs.length - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1))
    ;[pairs[index], pairs[other]] = [pairs[other]!, pairs[index]!]
  }
  return JSON.stringify(Object.fromEntries(pairs))
}

function transcoder(name: string, input: Buffer[], fields: string[]): Contender {
  const sink = new SegmentBuffer()
  const rows = new RowTranscoder({ fields }, [sink])
  return {
    name,
    run() {
      const before = sink.size
      for (const page of input) {
        rows.startPage(PAGE_SIZE)
        rows.rows(page, 0, page.length - PAGE_MARGIN, 0)
        if (sink.length > 1024 * 1024) sink.written()
      }
      return sink.size - before
    },
  }
}

function parsed(name: string, input: Buffer[], write: (rows: OrderRow[]) => number): Contender {
  const parse = (page: Buffer) =>
    JSON.parse(page.toString('utf8', 0, page.length - PAGE_MARGIN)) as OrderRow[]
  return { name, run: () => input.reduce((sum, page) => sum + write(parse(page)), 0) }
}

function buildText(rows: OrderRow[]): string {
  let text = ''
  for (const row of rows) {
    let line = ''
    for (const field of ORDER_FIELDS) {
      const value = row[field as keyof OrderRow]
      line += `${line && ','}${typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : value}`
    }
    text += `${line}\n`
  }
  return text
}

/** Rows a second by the clock on the wall, and by the processor's time, which other work on the machine disturbs less. */
interface Speed {
  wall: number
  cpu: number
}

async function time(rows: number, run: () => unknown): Promise<Speed> {
  const start = performance.now()
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return { wall: (rows / (performance.now() - start)) * 1e3, cpu: (rows / (user + system)) * 1e6 }
}

/** The best of several rounds: whatever else runs only ever slows one down. */
async function best(rounds: number, round: () => Promise<Speed>): Promise<Speed> {
  const speed = { wall: 0, cpu: 0 }
  for (let done = 0; done < rounds; done++) {
    const { wall, cpu } = await round()
    speed.wall = Math.max(speed.wall, wall)
    speed.cpu = Math.max(speed.cpu, cpu)
  }
  return speed
}

async function measure({ run }: Contender): Promise<Speed> {
  for (let warm = 0; warm < 3; warm++) if (run() <= 0) throw new Error('made nothing')
  return await best(7, () => time(PAGES * PAGE_SIZE, run))
}

/** The whole stage, from a source in memory to files on disk, checkpoints included. */
async function measureStage(input: Buffer[], totalRows: number, key?: string[]): Promise<Speed> {
  const bodies = input.map((page) => Buffer.concat([page.subarray(1, -PAGE_MARGIN), Buffer.from('}')]))
  const first = Buffer.from(JSON.stringify({ total: totalRows, data: [orderRow(0)] }))
  const source: PageSource = {
    async get(page, pageSize) {
      // Pages repeat themselves; blanks make each of them another.
      const blanks = page.toString(2).padStart(16, '0').replaceAll('0', ' ').replaceAll('1', '\t')
      const head = Buffer.from(`{"total":${totalRows},"data":[${blanks}`)
      return {
        status: 200,
        headers: {},
        body: (async function* () {
          if (pageSize === 1) yield first
          else {
            yield head
            yield bodies[page % PAGES]!
          }
        })(),
      }
    },
  }
  const directory = await mkdtemp(join(tmpdir(), 'wharf-bench-'))
  try {
    const fetch = () =>
      fetchToSpool(
        { source, clock: systemClock },
        {
          directory,
          columnsOf: () => ({ fields: ORDER_FIELDS }),
          pageSize: PAGE_SIZE,
          key,
          signal: new AbortController().signal,
        },
      )
    return await best(3, async () => {
      await removeSpool(directory)
      return await time(totalRows, fetch)
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export async function benchFetch(): Promise<void> {
  const plain = pages((row) => JSON.stringify(row))
  const options = { columns: ORDER_FIELDS, quoted_string: true }
  const peers = [
    parsed('JSON.parse + csv-stringify', plain, (rows) => Buffer.from(stringify(rows, options)).length),
    parsed('JSON.parse + string builder', plain, (rows) => Buffer.from(buildText(rows)).length),
    parsed('JSON.parse alone', plain, (rows) => rows.length),
  ]
  const ours = [
    transcoder('wharf, keys in column order', plain, ORDER_FIELDS),
    transcoder('wharf, columns in another order', plain, [...ORDER_FIELDS].reverse()),
    transcoder(
      'wharf, blanks between tokens',
      pages((row) => JSON.stringify(row, null, 1)),
      ORDER_FIELDS,
    ),
    transcoder('wharf, keys shuffled in each row', pages(shuffled), ORDER_FIELDS),
  ]
  const bar = await measure(peers[0]!)
  const print = (name: string, { wall, cpu }: Speed) => {
    const cells = [wall / 1e6, wall / bar.wall, cpu / 1e6, cpu / bar.cpu].map((cell) =>
      cell.toFixed(2).padStart(8),
    )
    console.log(`${name.padEnd(36)} ${cells.join('')}`)
  }
  console.log(`fetch: ${PAGES * PAGE_SIZE} rows of ${ORDER_FIELDS.length} columns, pages of ${PAGE_SIZE}`)
  console.log(`${'million rows/s, and times the first'.padEnd(36)}     wall       x     cpu       x`)
  print(peers[0]!.name, bar)
  for (const contender of [...peers.slice(1), ...ours]) print(contender.name, await measure(contender))
  print('wharf, whole stage to disk, 1M rows', await measureStage(plain, 1_000_000))
  print('the same, rows compared by their id', await measureStage(plain, 1_000_000, ['id']))
}

if (import.meta.main) await benchFetch()
