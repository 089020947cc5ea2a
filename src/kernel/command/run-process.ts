import { spawn } from 'node:child_process'
import { ERRORS, isAppError, messageOf } from '../errors.ts'
import { OutputLines } from './output-lines.ts'

/** Shorter than the engine waits for a job that must stop: the command is gone before its job is let go. */
const KILL_GRACE_MS = 4_000
/** A server that shuts down has had its time. */
const SHUTDOWN_GRACE_MS = 500

export interface RunProcessOptions {
  command: [string, ...string[]]
  cwd: string
  /** None of the server's own: its environment holds secrets. */
  environment: Readonly<Record<string, string>>
  timeoutMs: number
  /** Aborting ends the command and everything that it started. */
  signal: AbortSignal
  onLine(stream: 'stdout' | 'stderr', line: string): void
}

export type ProcessEnd =
  | { how: 'exit'; code: number }
  | { how: 'timeout' }
  /** It could not be started, or a signal ended it. */
  | { how: 'broken'; reason: string }

/**
 * Runs one command in a process group of its own and without a shell, until it ends, takes too long or is stopped by
 * the signal. Answers how it ended; throws the signal's reason if it was stopped.
 */
export async function runProcess(options: RunProcessOptions): Promise<ProcessEnd> {
  const { command, cwd, environment, timeoutMs, signal, onLine } = options
  signal.throwIfAborted()
  const [program, ...args] = command
  const child = spawn(program, args, {
    cwd,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const name of ['stdout', 'stderr'] as const) {
    const lines = new OutputLines((line) => onLine(name, line))
    child[name].on('data', (chunk: Buffer) => lines.write(chunk))
    child[name].on('end', () => lines.end())
  }
  const group = new ProcessGroup(child.pid)
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    group.end(KILL_GRACE_MS)
  }, timeoutMs)
  const onAbort = () =>
    group.end(isAppError(signal.reason, ERRORS.SHUTTING_DOWN) ? SHUTDOWN_GRACE_MS : KILL_GRACE_MS)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const end = await new Promise<ProcessEnd>((resolve) => {
      child.once('error', (error) => resolve({ how: 'broken', reason: messageOf(error) }))
      child.once('close', (code, by) =>
        resolve(code === null ? { how: 'broken', reason: `ended by ${by}` } : { how: 'exit', code }),
      )
    })
    signal.throwIfAborted()
    return timedOut ? { how: 'timeout' } : end
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    group.sweep()
  }
}

/** The command and whatever it started. */
class ProcessGroup {
  readonly #pid: number | undefined
  #forced: NodeJS.Timeout | undefined

  constructor(pid: number | undefined) {
    this.#pid = pid
  }

  /** Asks first, then insists. */
  end(graceMs: number): void {
    this.#kill('SIGTERM')
    this.#forced ??= setTimeout(() => this.#kill('SIGKILL'), graceMs)
  }

  /** The command is gone; so should its children be. */
  sweep(): void {
    clearTimeout(this.#forced)
    this.#kill('SIGKILL')
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#pid === undefined) return
    try {
      process.kill(-this.#pid, signal)
    } catch {
      // Nobody of the group is left.
    }
  }
}
