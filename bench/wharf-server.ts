import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cpuMsOf } from './cpu-time.ts'

const COMMAND = fileURLToPath(new URL('../bin/wharf.mjs', import.meta.url))
const PATIENCE_MS = 30_000
const ADMIN_TOKEN = 'bench-admin-token-of-nobody'

/** `wharf serve`, embedded and with an empty data directory, as users start it: what it needs is what they would see. */
export class WharfServer {
  readonly folder: string
  readonly address: string
  readonly readyMs: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, folder: string, address: string, readyMs: number) {
    this.#child = child
    this.folder = folder
    this.address = address
    this.readyMs = readyMs
  }

  static async start(settings: Record<string, string> = {}): Promise<WharfServer> {
    const folder = mkdtempSync(join(tmpdir(), 'wharf-bench-'))
    const started = performance.now()
    const child = spawn(process.execPath, [COMMAND, 'serve'], {
      env: {
        ...process.env,
        WHARF_PORT: '0',
        TASK_GRPC_PORT: '0',
        WHARF_DATA_DIR: folder,
        WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
        DATABASE_URL: undefined,
        REDIS_URL: undefined,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const address = await addressOf(child)
    await untilReady(address)
    return new WharfServer(child, folder, address, performance.now() - started)
  }

  /** Asks with this key, or else as the administrator; throws what the server says against it. */
  async ask<T>(method: string, path: string, body?: unknown, key = ADMIN_TOKEN): Promise<T> {
    const answer = await fetch(`${this.address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }

  /** What it holds now, and the most that it ever held, in MB. */
  memory(): { now: number; most: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    const megabytes = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024
    return { now: megabytes('VmRSS'), most: megabytes('VmHWM') }
  }

  /** Processor time that it has used so far, all threads together. */
  cpuMs(): number {
    return cpuMsOf(this.#child.pid ?? 0) ?? 0
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      const gone = once(this.#child, 'exit')
      this.#child.kill('SIGTERM')
      await gone
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The server says where it listens; what it said instead is the error. */
function addressOf(server: ChildProcess): Promise<string> {
  const said: string[] = []
  return new Promise((resolve, reject) => {
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
}

async function untilReady(address: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await fetch(`${address}/readyz`).catch(() => undefined)
    if (answer?.ok) return
    if (performance.now() > until) throw new Error(`${address}/readyz is not ready`)
    await sleep(10)
  }
}
