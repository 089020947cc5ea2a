import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

const COMMAND = fileURLToPath(new URL('../../bin/wharf.mjs', import.meta.url))

/** What `npm start` runs, as a process that can be killed and started again on the same port and data. */
export class ConsoleWharf {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'wharf-console-'))
  readonly #env: Record<string, string>
  #child: ChildProcess | undefined
  /** As they are printed for whoever has just started it. */
  address = ''
  demoKey = ''

  constructor(env: Record<string, string> = {}) {
    this.#env = env
  }

  static async start(env: Record<string, string> = {}): Promise<ConsoleWharf> {
    const wharf = new ConsoleWharf({ WHARF_PORT: String(await freePort()), ...env })
    await wharf.start()
    return wharf
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [COMMAND, 'serve', '--demo'], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        TASK_GRPC_PORT: '0',
        WHARF_DATA_DIR: this.dataDir,
        WHARF_LOG_LEVEL: 'warn',
        WHARF_RATE_LIMIT: '10000/s',
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    let output = ''
    let errors = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text))
    await new Promise<void>((resolve, reject) => {
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const printed = /Console\s+(http:\/\/\S+)\/\n[\s\S]*Demo project's key (\S+)\n/.exec(output)
        if (!printed) return
        ;[, this.address = '', this.demoKey = ''] = printed
        resolve()
      })
      child.once('exit', () => reject(new Error(`wharf did not start: ${errors}`)))
    })
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.dataDir, { recursive: true, force: true })
  }

  get adminToken(): string {
    return readFileSync(join(this.dataDir, 'admin-token'), 'utf8').trim()
  }

  /** Asks for an export as a business system does. */
  async startExport(body: object): Promise<string> {
    const answer = await fetch(`${this.address}/api/exports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.demoKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (answer.status !== 202) throw new Error(await answer.text())
    return ((await answer.json()) as { task_id: string }).task_id
  }
}
