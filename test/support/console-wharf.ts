import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { end, spawnBound } from './bound-process.ts'
import { Front, portOf } from './front.ts'
import { countUnforeseenOf } from './no-unforeseen.ts'

const COMMAND = fileURLToPath(new URL('../../bin/wharf.mjs', import.meta.url))

/** What `npm start` runs, as a process that can be killed and started again on the same address and data. */
export class ConsoleWharf {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'wharf-console-'))
  readonly #env: Record<string, string>
  readonly #front: Front
  #child: ChildProcess | undefined
  /** As it is printed for whoever has just started it. */
  demoKey = ''

  private constructor(front: Front, env: Record<string, string>) {
    this.#front = front
    this.#env = env
  }

  get address(): string {
    return this.#front.url
  }

  static async start(env: Record<string, string> = {}): Promise<ConsoleWharf> {
    const wharf = new ConsoleWharf(await Front.open(), env)
    await wharf.start()
    return wharf
  }

  async start(): Promise<void> {
    const child = spawnBound(process.execPath, [COMMAND, 'serve', '--demo'], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        WHARF_PORT: '0',
        TASK_GRPC_PORT: '0',
        WHARF_DATA_DIR: this.dataDir,
        WHARF_LOG_LEVEL: 'warn',
        WHARF_RATE_LIMIT: '10000/s',
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    countUnforeseenOf(child)
    let output = ''
    let errors = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text))
    await new Promise<void>((resolve, reject) => {
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const printed = /Console\s+(http:\/\/\S+)\/\n[\s\S]*Demo project's key (\S+)\n/.exec(output)
        if (!printed) return
        this.#front.to = portOf(printed[1] as string)
        this.demoKey = printed[2] as string
        resolve()
      })
      child.once('exit', () => reject(new Error(`wharf did not start: ${errors}`)))
    })
  }

  async kill(): Promise<void> {
    this.#front.to = undefined
    await end(this.#child, 'SIGKILL')
  }

  async remove(): Promise<void> {
    await this.kill()
    await this.#front.close()
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
