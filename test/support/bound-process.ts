import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBinary } from './find-binary.ts'

const SETPRIV = process.platform === 'linux' ? findBinary('setpriv') : undefined

const living = new Map<ChildProcess, NodeJS.Signals>()
const folders = new Set<string>()
process.once('exit', () => {
  for (const [child, last] of living) child.kill(last)
  for (const folder of folders) removeFolder(folder)
})
// As workers are ended.
process.once('SIGTERM', () => process.exit(143))

/** A temporary folder that does not outlive this process, unless it is killed. */
export function boundFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  folders.add(folder)
  return folder
}

export function removeFolder(folder: string): void {
  folders.delete(folder)
  // A process that was told to end may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

/** A process that does not outlive this one, however this one ends. */
export function spawnBound(
  command: string,
  args: readonly string[],
  { last = 'SIGKILL', ...options }: SpawnOptions & { last?: NodeJS.Signals } = {},
): ChildProcess {
  const child = SETPRIV
    ? spawn(SETPRIV, ['--pdeathsig', last.slice('SIG'.length), '--', command, ...args], options)
    : spawn(command, args, options)
  living.set(child, last)
  child.once('exit', () => living.delete(child))
  return child
}

export async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

/** Resolves with true once the process has printed `words` on a stream that is piped, or with false when it is gone. */
export async function untilPrinted(child: ChildProcess, words: string): Promise<boolean> {
  const printed = Promise.withResolvers<boolean>()
  for (const stream of [child.stdout, child.stderr]) {
    let text = ''
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text = (text + more).slice(-10_000)
      if (text.includes(words)) printed.resolve(true)
    })
  }
  child.once('exit', () => printed.resolve(false))
  child.once('error', printed.reject)
  return printed.promise
}
