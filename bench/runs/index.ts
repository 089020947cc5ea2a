import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const description =
  'small files from a loopback feed, side by side with aria2c and wget on the same list'

const CONNECTIONS = 16
const FILES = 10_000
const ROUNDS = 1

interface Sample {
  seconds: number
  /** Most memory, where the contestant tells. */
  most?: number
}

interface Contestant {
  name: string
  /** Fetches everything into the folder. */
  fetch(folder: string, feed: Feed): Promise<Sample>
}

interface Feed {
  child: ChildProcess
  origin: string
  count: number
  bytes: number
}

/** Wharf reads the feed, keeps a ledger and brings every file to the disk before it counts; the others only fetch. */
const CONTESTANTS: Contestant[] = [
  { name: 'wharf', fetch: fetchWithWharf },
  {
    name: `aria2c -j${CONNECTIONS}`,
    fetch: (folder, feed) => {
      const options = [
        '-j',
        String(CONNECTIONS),
        '-x1',
        '-s1',
        '--file-allocation=none',
        '--summary-interval=0',
      ]
      return timed('aria2c', ['-q', '--no-conf', ...options, '-d', folder, '-i', writeList(folder, feed)])
    },
  },
  {
    name: 'wget (1 connection)',
    fetch: (folder, feed) =>
      timed('wget', ['-q', '--no-config', '-P', folder, '-i', writeList(folder, feed)]),
  },
]

export async function run(args: readonly string[]): Promise<boolean> {
  const quick = args.includes('--quick')
  const count = quick ? 2_000 : FILES
  const contestants = CONTESTANTS.filter(
    ({ name }) => name === 'wharf' || isInstalled(name.split(' ')[0] ?? ''),
  )
  const feed = await startFeed(count)
  const samples = new Map<string, Sample[]>()
  try {
    for (let round = 0; round < (quick ? 1 : ROUNDS); round++)
      for (const contestant of contestants) {
        const sample = await measured(contestant, feed)
        samples.set(contestant.name, [...(samples.get(contestant.name) ?? []), sample])
      }
  } finally {
    await stopFeed(feed)
  }
  // Too few files say nothing about memory: the garbage collector has not yet taken its share.
  return report(samples, feed, quick ? undefined : await memoryOf(count * 3))
}

/** More files must not need more memory, once the garbage collector has taken its share. */
async function memoryOf(count: number): Promise<number> {
  const feed = await startFeed(count)
  try {
    return (await measured({ name: 'wharf', fetch: fetchWithWharf }, feed)).most ?? Number.NaN
  } finally {
    await stopFeed(feed)
  }
}

async function stopFeed({ child }: Feed): Promise<void> {
  child.stdin?.end()
  await once(child, 'exit')
}

function report(samples: Map<string, Sample[]>, feed: Feed, mostOfThrice: number | undefined): boolean {
  const secondsOf = (name: string) => median((samples.get(name) ?? []).map(({ seconds }) => seconds))
  const wharf = secondsOf('wharf')
  const megabytes = feed.bytes / 1e6
  console.log(
    `\n${feed.count} files, ${megabytes.toFixed(0)} MB, median of ${samples.get('wharf')?.length}\n`,
  )
  console.log(
    `${'fetched with'.padEnd(22)}${'files/s'.padStart(10)}${'MB/s'.padStart(10)}${'wharf is'.padStart(12)}`,
  )
  for (const name of samples.keys()) {
    const seconds = secondsOf(name)
    const cells = [feed.count / seconds, megabytes / seconds].map((value) => value.toFixed(0).padStart(10))
    console.log(`${name.padEnd(22)}${cells.join('')}${`${(seconds / wharf).toFixed(2)}x`.padStart(12)}`)
  }
  const most = median((samples.get('wharf') ?? []).map((sample) => sample.most ?? Number.NaN))
  const megabytesOf = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
  console.log(`\nwharf's memory: ${megabytesOf(most)}`)
  const peer = CONTESTANTS[1]?.name ?? ''
  const bars: [string, boolean][] = [
    [
      'at least level with aria2c at the same number of connections',
      samples.has(peer) && wharf <= secondsOf(peer),
    ],
  ]
  if (mostOfThrice !== undefined)
    bars.push([
      `memory flat: ${megabytesOf(mostOfThrice)} with three times as many files, at most a quarter more`,
      mostOfThrice <= 1.25 * most,
    ])
  for (const [bar, met] of bars) console.log(`${met ? 'PASS' : 'FAIL'}  ${bar}`)
  return bars.every(([, met]) => met)
}

async function measured({ name, fetch }: Contestant, feed: Feed): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  try {
    const sample = await fetch(folder, feed)
    const files = name === 'wharf' ? join(folder, 'accounts', 'bench') : folder
    const fetched = readdirSync(files).filter((file) => /^\d+(\.bin)?$/.test(file)).length
    if (fetched !== feed.count) throw new Error(`${name} fetched ${fetched} of ${feed.count} files`)
    return sample
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fetchWithWharf(folder: string, feed: Feed): Promise<Sample> {
  const args = [folder, `${feed.origin}/feed`, String(CONNECTIONS)]
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('wharf-process.ts', import.meta.url)), ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  await once(child, 'close')
  return JSON.parse(text) as Sample
}

async function timed(command: string, args: string[]): Promise<Sample> {
  const begun = performance.now()
  const [code] = await once(spawn(command, args, { stdio: 'inherit' }), 'exit')
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
  return { seconds: (performance.now() - begun) / 1000 }
}

function writeList(folder: string, { origin, count }: Feed): string {
  const list = join(folder, 'list.txt')
  writeFileSync(list, Array.from({ length: count }, (_, index) => `${origin}/${index}\n`).join(''))
  return list
}

async function startFeed(count: number): Promise<Feed> {
  const script = fileURLToPath(new URL('feed-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, String(count)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  const { port, bytes } = JSON.parse(line) as { port: number; bytes: number }
  return { child, origin: `http://127.0.0.1:${port}`, count, bytes }
}

function isInstalled(command: string): boolean {
  const found = spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
  if (!found) console.log(`${command} is not installed and left out (Debian: apt-get install aria2 wget)`)
  return found
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
