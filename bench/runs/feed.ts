import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A feed of small files in a process of its own, so that serving costs the contestants nothing. */
export class Feed {
  readonly origin: string
  readonly count: number
  readonly bytes: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, origin: string, count: number, bytes: number) {
    this.#child = child
    this.origin = origin
    this.count = count
    this.bytes = bytes
  }

  static async start(count: number): Promise<Feed> {
    const script = fileURLToPath(new URL('feed-process.ts', import.meta.url))
    const child = spawn(process.execPath, [script, String(count)], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    const { port, bytes } = JSON.parse(line) as { port: number; bytes: number }
    return new Feed(child, `http://127.0.0.1:${port}`, count, bytes)
  }

  /** Where each file is, one a line: what a download tool takes. */
  list(): string {
    return Array.from({ length: this.count }, (_, index) => `${this.origin}/${index}\n`).join('')
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end()
    await once(this.#child, 'exit')
  }
}
