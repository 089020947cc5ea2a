import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { spawnBound } from './bound-process.ts'

const MAIN = fileURLToPath(new URL('../../bin/wharf.mjs', import.meta.url))

export interface ProcessOptions {
  /** The test makes errors that nobody foresaw; in all others they fail it. */
  mayFail?: boolean
  /** The entry point of another version. */
  main?: string
}

/** The `wharf` command as a process of its own; it is gone with the test. */
export function runWharf(
  args: string[],
  env: Record<string, string> = {},
  { mayFail = false, main = MAIN }: ProcessOptions = {},
) {
  // Several servers run at once, so none may insist on the usual port for gRPC.
  const inherited = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', TASK_GRPC_PORT: '0' }
  const child = spawnBound(process.execPath, [main, ...args], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  }) as ChildProcessByStdio<null, Readable, Readable>
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => (output.out += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (output.err += text))
  const closed = once(child, 'close')
  const exited = once(child, 'exit').then(async ([code, signal]) => {
    // Its last words may arrive after its end. One that was killed may leave others behind who keep the streams open.
    if (signal === null) await closed
    return { code: code as number | null, signal: signal as string | null }
  })
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
    if (!mayFail) expect(unforeseenIn(output.out)).toEqual([])
  })
  return { child, output, exited }
}

/** Starts a server on a free port and resolves when it listens. */
export async function serveWharf(
  env: Record<string, string> = {},
  args: string[] = [],
  options: ProcessOptions = {},
) {
  const dataDir = env.WHARF_DATA_DIR ?? temporaryFolder()
  const settings = { WHARF_PORT: '0', WHARF_DATA_DIR: dataDir, WHARF_LOG_LEVEL: 'warn', ...env }
  const wharf = runWharf(['serve', ...args], settings, options)
  const addresses = await Promise.race([listening(wharf.child), wharf.exited.then(() => undefined)])
  if (!addresses) throw new Error(`wharf did not start: ${wharf.output.err}`)
  return { ...wharf, ...addresses, dataDir }
}

/**
 * What a process told of errors that nobody foresaw. Each is counted in `/metrics`, too, but the log also has those of a
 * process that was killed.
 */
export function unforeseenIn(output: string): string[] {
  return output.split('\n').filter((line) => line.includes('"unforeseen":'))
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Where it listens for HTTP and for gRPC. */
function listening(child: ChildProcess): Promise<{ address: string; grpcAddress: string }> {
  return new Promise((resolve) => {
    // With --demo it is printed to standard output. The log has the address too, in quotes.
    for (const stream of [child.stdout, child.stderr]) {
      let text = ''
      stream?.on('data', (chunk: string) => {
        text += chunk
        const [, address, grpcAddress] = LISTENING.exec(text) ?? []
        if (address && grpcAddress) resolve({ address, grpcAddress })
      })
    }
  })
}

const LISTENING = /^wharf is listening on (http:\/\/\S+)\ngRPC tasks: (\S+)\s/m

/** Settings of a process whose clock is wrong by so much. */
export function skewedBy(ms: number): Record<string, string> {
  const clock = new URL('skewed-clock.mjs', import.meta.url).href
  return { NODE_OPTIONS: `--import=${clock}`, TEST_SKEW_MS: String(ms) }
}
