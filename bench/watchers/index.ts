import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Bar, checkBars, printTable, quantile, ratio } from '../report.ts'
import { startServices } from '../services.ts'
import { WharfServer } from '../wharf-server.ts'
import { Readers } from './readers.ts'

export const description =
  'exports through `wharf serve` with 1,000 SSE and 100 WebSocket watchers, and without'

const SOURCE = fileURLToPath(new URL('../exports/pipeline/source.ts', import.meta.url))
const ROWS = 20_000
const PAGE_SIZE = 1_000
/** A round that has not ended by then is given up, and counts with what it has done. */
const PATIENCE_MS = 240_000
const BACK_MS = 60_000
const POLL_MS = 100
const CALLERS = 4

interface Plan {
  sse: number
  sockets: number
  exports: number
  rounds: number
}

interface Round {
  done: number
  perSecond: number
  /** Processor time of the server per export: it says what watchers cost on a machine that is busy with other things, too. */
  cpuMs: number
}

interface Measured {
  ledger: string
  without: Round[]
  with: Round[]
  lags: number[]
  cut: number
  gaps: number
  memory: { before: number; most: number; after: number }
}

export async function run(args: readonly string[]): Promise<boolean> {
  const plan: Plan = args.includes('--quick')
    ? { sse: 200, sockets: 20, exports: 20, rounds: 1 }
    : { sse: 1_000, sockets: 100, exports: 100, rounds: 3 }
  const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length)
  const source = spawn(process.execPath, [SOURCE], { stdio: ['ignore', 'pipe', 'inherit'] })
  const measured: Measured[] = []
  try {
    const url = `http://127.0.0.1:${await firstLine(source)}/orders?rows=${ROWS}`
    if (!only || 'embedded'.includes(only)) measured.push(await measure('embedded', {}, url, plan))
    if (!only || 'postgres'.includes(only)) {
      const services = await startServices()
      try {
        const database = await services.createDatabase()
        const settings = { DATABASE_URL: database.url, REDIS_URL: services.redisUrl }
        measured.push(await measure('PostgreSQL + Redis', settings, url, plan))
      } finally {
        await services.stop()
      }
    }
  } finally {
    source.kill()
  }
  print(measured, plan)
  return checkBars(measured.flatMap(bars))
}

async function measure(
  ledger: string,
  settings: Record<string, string>,
  sourceUrl: string,
  plan: Plan,
): Promise<Measured> {
  const server = await WharfServer.start({ WHARF_RATE_LIMIT: '100000/s', ...settings })
  const { api_key: key, project_id: project } = await server.ask<{ api_key: string; project_id: string }>(
    'POST',
    '/api/projects',
    { name: 'bench' },
  )
  const readers = new Readers(server.address, key)
  const round = (exports: number) => runExports(server, { key, project, sourceUrl, exports })
  const result: Measured = {
    ledger,
    without: [],
    with: [],
    lags: [],
    cut: 0,
    gaps: 0,
    memory: { before: 0, most: 0, after: 0 },
  }
  try {
    // The first exports also start threads and fill caches.
    await round(plan.exports)
    for (let number = 0; number < plan.rounds; number++) {
      // In turns, so that a busy moment of the machine does not hit only one of them.
      result.without.push(await round(plan.exports))
      result.memory.before = Math.max(result.memory.before, server.memory().now)
      const { seq } = await server.ask<{ seq: number }>('GET', '/api/session')
      await readers.open(plan.sse, plan.sockets, seq)
      result.with.push(await round(plan.exports))
      result.memory.most = Math.max(result.memory.most, server.memory().now)
      const { lags, cut, gaps } = await untilSeen(server, readers)
      for (const lag of lags) result.lags.push(lag)
      result.cut += cut
      result.gaps += gaps
      await readers.close()
      const [bare, watched] = [result.without.at(-1), result.with.at(-1)]
      console.error(
        `watchers: ${ledger}, round ${number + 1}: ${bare?.perSecond.toFixed(1)} exports/s without, ${watched?.perSecond.toFixed(1)} with; load ${loadavg()[0]?.toFixed(1)}`,
      )
    }
    result.memory.after = await untilBack(server, result.memory.before)
  } finally {
    readers.stop()
    await server.stop()
  }
  return result
}

/** Asks for all exports as quickly as a few callers can, and takes the time until the last has ended. */
async function runExports(
  server: WharfServer,
  { key, project, sourceUrl, exports }: { key: string; project: string; sourceUrl: string; exports: number },
): Promise<Round> {
  const started = performance.now()
  const cpu = server.cpuMs()
  const body = { source_url: sourceUrl, page_size: PAGE_SIZE, fresh: true }
  let unasked = exports
  const caller = async () => {
    while (unasked-- > 0) await server.ask('POST', '/api/exports', body, key)
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  let left = exports
  while (left > 0 && performance.now() - started < PATIENCE_MS) {
    await sleep(POLL_MS)
    left = await unfinished(server, project)
  }
  const seconds = (performance.now() - started) / 1_000
  const done = exports - left
  return { done, perSecond: done / seconds, cpuMs: (server.cpuMs() - cpu) / Math.max(1, done) }
}

async function unfinished(server: WharfServer, project: string): Promise<number> {
  let count = 0
  for (const status of ['processing', 'pending']) {
    const { items } = await server.ask<{ items: unknown[] }>(
      'GET',
      `/api/projects/${project}/exports?status=${status}&limit=100`,
    )
    count += items.length
  }
  return count
}

/** Waits until every watcher has seen the end of the log. */
async function untilSeen(server: WharfServer, readers: Readers) {
  const { seq } = await server.ask<{ seq: number }>('GET', '/api/session')
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const report = await readers.report()
    if (report.seen >= seq) return report
    if (performance.now() > deadline) throw new Error(`a watcher has seen ${report.seen} of ${seq} events`)
    await sleep(POLL_MS)
  }
}

/** The least that the server holds within a minute after the watchers have left. */
async function untilBack(server: WharfServer, before: number): Promise<number> {
  const until = performance.now() + BACK_MS
  let least = server.memory().now
  while (least > before && performance.now() < until) {
    await sleep(1_000)
    least = Math.min(least, server.memory().now)
  }
  return least
}

function print(measured: readonly Measured[], { sse, sockets, exports }: Plan): void {
  const rows = measured.flatMap((result) =>
    [['no', result.without] as const, [`${sse} + ${sockets}`, result.with] as const].map(
      ([watchers, rounds]) => [
        result.ledger,
        watchers,
        `${rounds.reduce((sum, { done }) => sum + done, 0)}/${rounds.length * exports}`,
        median(rounds, 'perSecond'),
        ratio(median(rounds, 'perSecond'), median(result.without, 'perSecond')),
        median(rounds, 'cpuMs'),
        watchers === 'no' ? undefined : quantile(result.lags, 0.5),
        watchers === 'no' ? undefined : quantile(result.lags, 0.99),
        watchers === 'no' ? result.memory.before : result.memory.most,
      ],
    ),
  )
  printTable(
    ['ledger', 'watchers', 'ended', 'exports/s', 'to none', 'CPU ms/export', 'lag p50 ms', 'p99', 'MB'],
    rows,
  )
  console.log(
    `\nCSV of ${ROWS} rows, medians of the rounds; all watchers see all events, and the lag is that of the oldest event in each piece.`,
  )
}

function bars(result: Measured): Bar[] {
  const rates = result.without.map(
    ({ perSecond }, index) => perSecond / (result.with[index]?.perSecond || Number.NaN),
  )
  const p99 = quantile(result.lags, 0.99)
  const { before, after } = result.memory
  const bar = (what: string, value: number | undefined, atMost: number, unit: string) => ({
    what: `${result.ledger}: ${what}`,
    value,
    atMost,
    unit,
  })
  return [
    bar('rate without watchers to rate with them', quantile(rates, 0.5), 1 / 0.9, 'x'),
    bar('event lag, p99', p99 === undefined ? undefined : p99 / 1_000, 1, 's'),
    bar('memory left a minute after they have gone', Math.max(0, after - before), 40, 'MB'),
    bar('streams cut', result.cut, 0, ''),
    bar('gaps', result.gaps, 0, ''),
  ]
}

function median(rounds: readonly Round[], what: 'perSecond' | 'cpuMs'): number | undefined {
  return quantile(
    rounds.map((round) => round[what]),
    0.5,
  )
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the source has no output')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return line
}
