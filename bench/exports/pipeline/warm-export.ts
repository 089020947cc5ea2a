// node warm-export.ts URL ROWS csv|excel FOLDER [WISHES]: small exports to warm up, then the one that is measured, with further
// fields of the request as JSON. Prints {seconds, cpu, megabytes} as JSON.
import { readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { exportToFolder } from '../../../src/app/export.ts'

const [url = '', rows = '0', type = 'csv', folder = '', wishes = '{}'] = process.argv.slice(2)

async function run(count: number): Promise<void> {
  const directory = join(folder, 'part')
  await mkdir(directory, { recursive: true })
  await exportToFolder({
    source: { url: `${url}${url.includes('?') ? '&' : '?'}rows=${count}`, headers: {} },
    wishes: { type: type as 'csv' | 'excel', page_size: 1_000, ...JSON.parse(wishes) },
    directory,
    excel: { maxRows: 1_048_000, maxBytes: 4e9 },
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onWarning: (message) => console.error(message),
  })
  await rm(directory, { recursive: true })
}

for (let round = 0; round < 3; round++) await run(20_000)
const start = performance.now()
const before = process.cpuUsage()
await run(Number(rows))
const { user, system } = process.cpuUsage(before)
const peak = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
const seconds = (performance.now() - start) / 1_000
console.log(JSON.stringify({ seconds, cpu: (user + system) / 1e6, megabytes: Number(peak) / 1024 }))
