import { readdirSync } from 'node:fs'
import { checkBars, printTable, quantile, ratio } from '../report.ts'
import { downloadTools, fetchWithTool, isInstalled } from './download-tool.ts'
import { Feed } from './feed.ts'
import { cancelSeconds, fetchWithWharf, type WharfSample } from './wharf.ts'

export const description =
  'small files from a loopback feed, side by side with aria2c and wget on the same list'

const CONNECTIONS = 16

export async function run(args: readonly string[]): Promise<boolean> {
  const quick = args.includes('--quick')
  const count = quick ? 2_000 : 10_000
  const { wharf, peers, megabytes } = await race(count, quick ? 1 : 3)
  const cancel = await withFeed(count, (feed) => cancelSeconds(feed, CONNECTIONS))
  // Collecting garbage begins to pay only after some thousand files: with fewer nothing can be said about memory.
  const long = quick ? undefined : await withFeed(count * 3, (feed) => fetchAll(feed))

  const seconds = median(wharf.map((sample) => sample.seconds))
  printTable(
    [`${count} files`, 'files/s', 'MB/s', 'wharf is'],
    [['wharf serve', seconds] as const, ...peers].map(([name, its]) => [
      name,
      count / its,
      megabytes / its,
      ratio(its, seconds),
    ]),
  )
  const aria2 = peers.find(([name]) => name.startsWith('aria2c'))?.[1]
  const bars = [
    { what: "time to aria2c's", value: aria2 && seconds / aria2, atMost: 1, unit: 'x' },
    { what: 'a running one cancelled', value: cancel, atMost: 1, unit: 's' },
  ]
  if (long) {
    const most = Math.max(...wharf.map((sample) => sample.most))
    console.log(
      `\nmemory at most: ${most.toFixed(0)} MB for ${count} files; for ${count * 3} files ` +
        `${long.firstQuarter.toFixed(0)} MB in the first quarter, ${long.most.toFixed(0)} MB in all`,
    )
    bars.push(
      { what: 'memory to the first quarter', value: long.most / long.firstQuarter, atMost: 1.3, unit: 'x' },
      { what: 'memory, three times the files', value: long.most / most, atMost: 1.1, unit: 'x' },
    )
  }
  return checkBars(bars)
}

/** Everyone in turns, so that a busy moment of the machine hits all alike; the median of each. */
async function race(count: number, rounds: number) {
  const tools = downloadTools(CONNECTIONS).filter(isInstalled)
  const wharf: WharfSample[] = []
  const seconds = new Map<string, number[]>(tools.map(({ name }) => [name, []]))
  return withFeed(count, async (feed) => {
    for (let round = 0; round < rounds; round++) {
      wharf.push(await fetchAll(feed))
      for (const tool of tools)
        seconds.get(tool.name)?.push(await fetchWithTool(tool, feed, complete(tool.name, feed)))
    }
    const peers = [...seconds].map(([name, its]) => [name, median(its)] as const)
    return { wharf, peers, megabytes: feed.bytes / 1e6 }
  })
}

function fetchAll(feed: Feed): Promise<WharfSample> {
  return fetchWithWharf(feed, CONNECTIONS, complete('wharf', feed))
}

function complete(name: string, feed: Feed) {
  return (folder: string) => {
    const fetched = readdirSync(folder).filter((file) => /^\d+(\.bin)?$/.test(file)).length
    if (fetched !== feed.count) throw new Error(`${name} fetched ${fetched} of ${feed.count} files`)
  }
}

async function withFeed<T>(count: number, use: (feed: Feed) => Promise<T>): Promise<T> {
  const feed = await Feed.start(count)
  try {
    return await use(feed)
  } finally {
    await feed.stop()
  }
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5) ?? Number.NaN
}
