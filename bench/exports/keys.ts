// node bench/exports/keys.ts [ROWS]: keys of 50 million rows compared while they are fetched, and what that holds in memory.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchToSpool } from '../../src/exports/sources/index.ts'
import type { PageSource } from '../../src/exports/sources/pages/index.ts'
import { systemClock } from '../../src/kernel/index.ts'

const PAGE_ROWS = 1_000
const MEMORY_BAR = 300
const total = Number(process.argv[2] ?? 50_000_000)
/** The last row is the first one again: the two keys that are furthest apart. */
const idOf = (row: number) => (row === total - 1 ? 0 : row)
const DIGITS = 9
const ROW_BYTES = `{"id":"${'0'.repeat(DIGITS)}"},`.length

function emptyPage(): Buffer {
  const rows = Array<string>(PAGE_ROWS).fill(`{"id":"${'0'.repeat(DIGITS)}"}`)
  return Buffer.from(`{"total":${total},"data":[${rows.join()}]}`)
}

/** Pages that have been read, to be filled again: the garbage of the source would count as Wharf's. */
const spare = [emptyPage()]
const FIRST_ID = spare[0]!.indexOf('"id":"') + '"id":"'.length

/** Writes the page into `body`; the last one, which is shorter, into bytes of its own. */
function fillPage(body: Buffer, page: number, pageSize: number): Buffer {
  const from = page * pageSize
  const count = Math.min(pageSize, total - from)
  for (let row = 0; row < count; row++) {
    let rest = idOf(from + row)
    for (let digit = DIGITS - 1; digit >= 0; digit--) {
      body[FIRST_ID + row * ROW_BYTES + digit] = 0x30 + (rest % 10)
      rest = Math.floor(rest / 10)
    }
  }
  if (count === PAGE_ROWS) return body
  const end = FIRST_ID + (count - 1) * ROW_BYTES + DIGITS + '"}'.length
  return Buffer.concat([body.subarray(0, end), Buffer.from(']}')])
}

const source: PageSource = {
  async get(page, pageSize) {
    return {
      status: 200,
      headers: {},
      body: (async function* () {
        const body = spare.pop() ?? emptyPage()
        yield fillPage(body, page, pageSize)
        spare.push(body)
      })(),
    }
  },
}

const directory = await mkdtemp(join(tmpdir(), 'wharf-bench-'))
try {
  const start = performance.now()
  const { checks } = await fetchToSpool(
    { source, clock: systemClock },
    {
      directory,
      columnsOf: () => ({ fields: ['id'] }),
      pageSize: PAGE_ROWS,
      key: ['id'],
      signal: new AbortController().signal,
    },
  )
  const seconds = (performance.now() - start) / 1_000
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
  const found = checks.keys?.repeats
  console.log(`${total.toLocaleString('en')} keys compared in ${seconds.toFixed(1)} s, ${found} repeated`)
  console.log(`${found === 1 ? 'PASS' : 'FAIL'}  the one row that comes twice is found`)
  const met = peak < MEMORY_BAR
  console.log(`${met ? 'PASS' : 'FAIL'}  memory: ${peak.toFixed(0)} MB, bar < ${MEMORY_BAR} MB`)
} finally {
  await rm(directory, { recursive: true, force: true })
}
