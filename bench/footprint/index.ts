import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { checkBars } from '../report.ts'

export const description = 'the embedded server: memory while idle, and how soon it is ready'

const MAIN = fileURLToPath(new URL('../../bin/wharf.mjs', import.meta.url))
const IDLE_MS = 10_000
const PATIENCE_MS = 30_000

export async function run(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
  const started = performance.now()
  const server = spawn(process.execPath, [MAIN, 'serve'], {
    env: {
      ...process.env,
      WHARF_PORT: '0',
      TASK_GRPC_PORT: '0',
      WHARF_DATA_DIR: folder,
      DATABASE_URL: '',
      REDIS_URL: '',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    const address = await addressOf(server)
    await untilReady(address, started)
    const readyMs = performance.now() - started
    await sleep(IDLE_MS)
    return checkBars([
      { what: 'resident while idle', value: residentMb(server), atMost: 150, unit: 'MB' },
      { what: 'ready after its start', value: readyMs / 1_000, atMost: 2, unit: 's' },
    ])
  } finally {
    await end(server)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The server says where it listens; what it said instead is the error. */
async function addressOf(server: ChildProcess): Promise<string> {
  const said: string[] = []
  const address = new Promise<string>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr]) {
      if (!stream) continue
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line)
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
        if (found) resolve(found)
      })
    }
    server.once('exit', (code) =>
      reject(new Error(`the server ended with code ${code}:\n${said.slice(0, 20).join('\n')}`)),
    )
  })
  return address
}

async function untilReady(address: string, started: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${address}/readyz`).catch(() => undefined)
    if (answer?.ok) return
    if (performance.now() - started > PATIENCE_MS) throw new Error(`${address}/readyz is not ready`)
    await sleep(10)
  }
}

function residentMb(server: ChildProcess): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return
  const gone = once(server, 'exit')
  server.kill('SIGTERM')
  await gone
}
